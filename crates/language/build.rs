//! Hands on where ExecuTorch's libraries are, so that tests and benchmarks find them when they start.

fn main() {
    println!("cargo:rerun-if-changed=build.rs");
    let lib_dir = std::env::var("DEP_EXECUTORCH_LIB_DIR").unwrap_or_default();
    if !lib_dir.is_empty() {
        println!("cargo:rustc-link-arg=-Wl,-rpath,{lib_dir}");
    }
}
