//! Where ExecuTorch's headers and libraries are.

use std::env;
use std::path::{Path, PathBuf};

/// The release that the bridge is written against; `cargo xtask setup` fetches the same.
pub(crate) const VERSION: &str = "1.5.1";

/// An ExecuTorch install: a folder with `include/` and `lib/`.
pub(crate) struct Install {
    pub(crate) include: PathBuf,
    pub(crate) lib: PathBuf,
}

/// What the libraries were built with (share/cmake/executorch-config.cmake); layouts depend on them.
pub(crate) const DEFINES: [&str; 3] =
    ["C10_USING_CUSTOM_GENERATED_MACROS", "ET_EVENT_TRACER_ENABLED", "ET_USE_THREADPOOL"];

impl Install {
    /// The compiler's flags for the headers. As system headers: their warnings are not ours to mend.
    pub(crate) fn include_flags(&self) -> [String; 4] {
        let c10 = self.include.join("executorch/runtime/core/portable_type/c10");
        let isystem = || "-isystem".to_owned();
        [isystem(), self.include.display().to_string(), isystem(), c10.display().to_string()]
    }
}

/// `EXECUTORCH_DIR` if set, else the folder into which `cargo xtask setup` unpacks.
pub(crate) fn executorch() -> Result<Install, String> {
    for name in ["EXECUTORCH_DIR", "NEARSIDE_CACHE", "XDG_CACHE_HOME"] {
        println!("cargo:rerun-if-env-changed={name}");
    }
    if let Some(dir) = non_empty("EXECUTORCH_DIR") {
        return install(Path::new(&dir))
            .map_err(|why| format!("EXECUTORCH_DIR is set to {dir}, but {why}; point it at a folder that has ExecuTorch's include/ and lib/, or unset it and run `cargo xtask setup`"));
    }
    let dir = cache().ok_or("HOME is not set; set EXECUTORCH_DIR to an ExecuTorch install")?;
    let dir = dir.join("executorch").join(VERSION);
    // Also while it is missing, so that set-up is noticed.
    println!("cargo:rerun-if-changed={}", dir.display());
    install(&dir).map_err(|_| {
        format!("ExecuTorch {VERSION} was not found; run `cargo xtask setup`, or set EXECUTORCH_DIR to an install that has include/ and lib/")
    })
}

fn cache() -> Option<PathBuf> {
    if let Some(dir) = non_empty("NEARSIDE_CACHE") {
        return Some(dir.into());
    }
    if let Some(dir) = non_empty("XDG_CACHE_HOME") {
        return Some(Path::new(&dir).join("nearside"));
    }
    non_empty("HOME").map(|home| Path::new(&home).join(".cache/nearside"))
}

fn install(dir: &Path) -> Result<Install, String> {
    let install = Install { include: dir.join("include"), lib: dir.join("lib") };
    let header = install.include.join("executorch/runtime/executor/program.h");
    if !header.is_file() {
        return Err(format!("{} does not exist", header.display()));
    }
    if !install.lib.is_dir() {
        return Err(format!("{} is not a folder", install.lib.display()));
    }
    Ok(install)
}

fn non_empty(name: &str) -> Option<String> {
    env::var(name).ok().filter(|value| !value.is_empty())
}
