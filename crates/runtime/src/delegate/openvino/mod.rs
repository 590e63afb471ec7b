//! OpenVINO: Intel CPUs, GPUs and NPUs of desktops. Its library is opened when the first method is loaded, or when its
//! availability is asked for, and is then the one for the process.
//!
//! Source: backends/openvino/runtime/OpenvinoBackend.cpp.

mod environment;
mod library;
mod options;
mod precision;

pub use options::OpenVinoOptions;
pub use precision::forbid_reduced_precision;

use super::option::{OptionInfo, OptionKind, Scope};
use super::{Check, DelegateInfo, DelegateOptions, Hold, Platform};
use crate::error::Result;
use crate::program::Program;

pub(super) static INFO: DelegateInfo = DelegateInfo {
    id: "OpenvinoBackend",
    short_name: "openvino",
    name: "OpenVINO",
    platforms: &[Platform::Linux],
    options: &[
        OptionInfo {
            key: options::LIBRARY,
            kind: OptionKind::Path,
            default: "OPENVINO_LIB_PATH, else libopenvino_c.so where the loader finds it",
            scope: Scope::Environment,
            meaning: "the file of OpenVINO's C library, such as libopenvino_c.so.2541; not its folder",
        },
        OptionInfo {
            key: options::ALLOW_REDUCED_PRECISION,
            kind: OptionKind::Bool,
            default: "true: OpenVINO computes f32 programs in bf16 on CPUs that have it",
            scope: Scope::Environment,
            meaning: "whether f32 programs may be computed in fewer bits",
        },
    ],
    needs: "OpenVINO 2025.1 or later, before 2026 (PyPI `openvino` has it)",
    absence: "is_available() is false; 0x20 (NotFound) at method load",
    tested: "on Linux x86_64, by `cargo xtask test --only delegates`",
    check: Check::InPlace(library::check),
    prepare,
};

fn prepare(_: &Program, options: &mut DelegateOptions) -> Result<Hold> {
    library::choose(options)?;
    precision::choose(options)?;
    // The load that follows opens the library for good; if it can't, options are still open.
    if let Ok(file) = library::usable() {
        library::settle(file);
        precision::settle();
    }
    Ok(None)
}
