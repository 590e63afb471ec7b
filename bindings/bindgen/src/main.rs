//! The `uniffi-bindgen` command line, at the version that the SDK uses.
fn main() {
    uniffi::uniffi_bindgen_main();
}
