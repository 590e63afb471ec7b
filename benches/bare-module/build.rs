//! Compiles the peer against the ExecuTorch that nearside-runtime finds, by the same code. It does not ask
//! nearside-runtime through cargo: that depends on this crate for its benchmarks.

#[path = "../../crates/runtime/build/explain.rs"]
mod explain;
#[path = "../../crates/runtime/build/find.rs"]
mod find;

fn main() {
    println!("cargo:rerun-if-changed=build.rs");
    println!("cargo:rerun-if-changed=cpp");
    println!("cargo:rerun-if-changed=src/bridge.rs");
    match find::executorch() {
        Ok(install) => compile(&install),
        Err(problem) => explain::at_link_time(&problem),
    }
}

fn compile(install: &find::Install) {
    let mut build = cxx_build::bridge("src/bridge.rs");
    build.file("cpp/bare_module.cc").include("cpp");
    for flag in install.include_flags() {
        build.flag(flag);
    }
    for define in find::DEFINES {
        build.define(define, None);
    }
    // As nearside-runtime's bridge.
    build.flag_if_supported("-Wno-deprecated-declarations").std("c++17").opt_level(2).debug(false);
    build.compile("nearside_bare_module");
    println!("cargo:rustc-link-search=native={}", install.lib.display());
    println!("cargo:rustc-link-lib=dylib=executorch");
    println!("cargo:rustc-link-arg=-Wl,-rpath,{}", install.lib.display());
}
