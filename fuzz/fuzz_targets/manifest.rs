//! A manifest of any bytes is read or refused.
#![no_main]

use libfuzzer_sys::fuzz_target;
use nearside_pipeline::package::manifest::Manifest;

fuzz_target!(|text: &str| {
    let _ = Manifest::parse(text);
});
