//! A `.pte` file of any bytes is described or refused.
#![no_main]

use libfuzzer_sys::fuzz_target;
use nearside_runtime::Program;

fuzz_target!(|bytes: &[u8]| {
    let Ok(program) = Program::from_bytes(bytes) else { return };
    for name in program.method_names() {
        let _ = program.report(name);
    }
});
