//! A manifest of any text is refused or read; what was read can be written and read again.
#![no_main]

use libfuzzer_sys::fuzz_target;
use nearside_pipeline::package::manifest::Manifest;

fuzz_target!(|text: &str| {
    let Ok(manifest) = Manifest::parse(text) else { return };
    Manifest::parse(&serde_json::to_string(&manifest).unwrap()).unwrap();
});
