//! A `.ptd` file of any bytes is described or refused.
#![no_main]

use libfuzzer_sys::fuzz_target;
use nearside_runtime::file::DataFile;

fuzz_target!(|bytes: &[u8]| {
    if let Ok(file) = DataFile::from_bytes(bytes) {
        assert!(file.entries().is_sorted_by(|a, b| a.key < b.key));
    }
});
