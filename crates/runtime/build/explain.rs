//! A missing ExecuTorch must not stop `cargo check`, and must be one readable sentence when something is linked.

/// Warns now, and makes the linker name the fix: it is asked for a library whose name is the message.
pub(crate) fn at_link_time(problem: &str) {
    println!("cargo:warning={problem}");
    println!(
        "cargo:rustc-link-lib=dylib=ExecuTorch-was-not-found.Run-cargo-xtask-setup-or-set-EXECUTORCH_DIR"
    );
    println!("cargo:lib_dir=");
}
