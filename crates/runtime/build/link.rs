//! Compiles the bridge and links ExecuTorch's libraries.

use crate::find::{self, Install};
use std::path::Path;

/// Kernel and delegate libraries register themselves when loaded. `cpp/keep.cc` refers to a symbol of each so that
/// no linker drops one as unneeded.
const LIBRARIES: [&str; 5] = [
    "executorch",
    "executorch_threadpool",
    "executorch_kernels_optimized",
    "executorch_kernels_quantized",
    "executorch_backend_xnnpack",
];

const SOURCES: [&str; 9] = [
    "data_map.cc",
    "keep.cc",
    "loader.cc",
    "log.cc",
    "method.cc",
    "program.cc",
    "registry.cc",
    "threads.cc",
    "tracer.cc",
];

pub(crate) fn bridge_and_libraries(install: &Install) {
    let mut build = cxx_build::bridge("src/bridge.rs");
    build.files(SOURCES.map(|file| Path::new("cpp").join(file))).include("cpp");
    for flag in install.include_flags() {
        build.flag(flag);
    }
    for define in find::DEFINES {
        build.define(define, None);
    }
    build.flag_if_supported("-Wno-deprecated-declarations").std("c++17").opt_level(2).debug(false);
    build.compile("nearside_executorch_bridge");

    println!("cargo:rustc-link-search=native={}", install.lib.display());
    for library in LIBRARIES {
        println!("cargo:rustc-link-lib=dylib={library}");
    }
    // For this crate's own test binaries; dependants read `DEP_EXECUTORCH_LIB_DIR` and do the same for theirs.
    println!("cargo:rustc-link-arg=-Wl,-rpath,{}", install.lib.display());
    println!("cargo:lib_dir={}", install.lib.display());
}
