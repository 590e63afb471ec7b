//! Compiles the bridge and links ExecuTorch's libraries.

use crate::find::{self, Install};
use std::env;
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

const SOURCES: [&str; 31] = [
    "data_map.cc",
    "delegate_options.cc",
    "guards/convolution.cc",
    "guards/division.cc",
    "guards/element_types.cc",
    "guards/fourier.cc",
    "guards/guards.cc",
    "guards/normalisation.cc",
    "guards/pooling.cc",
    "guards/quantised.cc",
    "guards/resampling.cc",
    "guards/selection.cc",
    "guards/shapes.cc",
    "keep.cc",
    "kernels/add_rms_norm.cc",
    "kernels/attention.cc",
    "kernels/call.cc",
    "kernels/embedding.cc",
    "kernels/gated.cc",
    "kernels/kernels.cc",
    "kernels/linear.cc",
    "kernels/rms_norm.cc",
    "kernels/rope_table.cc",
    "kernels/rotary_attention.cc",
    "loader.cc",
    "log.cc",
    "method.cc",
    "program.cc",
    "registry.cc",
    "threads.cc",
    "tracer.cc",
];

/// Delegates by Cargo feature, each with its library; `cpp/keep.cc` keeps it where the macro of the same name is set.
const DELEGATES: [(&str, &str); 2] =
    [("OPENVINO", "executorch_backend_openvino"), ("QNN", "executorch_backend_qnn")];

pub(crate) fn bridge_and_libraries(install: &Install) {
    let delegates: Vec<_> =
        DELEGATES.into_iter().filter(|(name, library)| wanted(install, name, library)).collect();
    let mut build = cxx_build::bridge("src/bridge.rs");
    build.files(SOURCES.map(|file| Path::new("cpp").join(file))).include("cpp");
    for flag in install.include_flags() {
        build.flag(flag);
    }
    for define in find::DEFINES {
        build.define(define, None);
    }
    build.flag_if_supported("-Wno-deprecated-declarations").std("c++17").opt_level(2).debug(false);
    for (name, _) in &delegates {
        build.define(&format!("NEARSIDE_{name}"), None);
    }
    build.compile("nearside_executorch_bridge");

    println!("cargo:rustc-link-search=native={}", install.lib.display());
    for library in LIBRARIES.into_iter().chain(delegates.into_iter().map(|(_, library)| library)) {
        println!("cargo:rustc-link-lib=dylib={library}");
    }
    // For this crate's own test binaries; dependants read `DEP_EXECUTORCH_LIB_DIR` and do the same for theirs.
    println!("cargo:rustc-link-arg=-Wl,-rpath,{}", install.lib.display());
    println!("cargo:lib_dir={}", install.lib.display());
}

/// Whether a delegate was asked for and can be linked. If not, one sentence says so: an error where ExecuTorch's wheel
/// has it.
fn wanted(install: &Install, name: &str, library: &str) -> bool {
    if env::var_os(format!("CARGO_FEATURE_{name}")).is_none() {
        return false;
    }
    let file = install.lib.join(format!("lib{library}.so"));
    if file.is_file() {
        return true;
    }
    let feature = name.to_lowercase();
    let target = |part: &str| env::var(format!("CARGO_CFG_TARGET_{part}")).unwrap_or_default();
    if (target("OS").as_str(), target("ARCH").as_str()) == ("linux", "x86_64") {
        println!(
            "cargo::error=the feature `{feature}` needs {}, which does not exist: give an ExecuTorch install that has \
             it, or build without the feature",
            file.display()
        );
    } else {
        println!(
            "cargo::warning=the feature `{feature}` is left out: ExecuTorch has this delegate for Linux x86_64 only"
        );
    }
    false
}
