//! XNNPACK: the CPU of every device.

mod graph;
mod options;
mod weight_cache;

pub(crate) use graph::{Calls, NamedData, check};
pub use options::{WorkspaceSharing, XnnpackOptions};

use super::option::{OptionInfo, OptionKind, Scope};
use super::{Check, DelegateInfo, Platform};

/// ExecuTorch's id.
pub(crate) const ID: &str = "XnnpackBackend";

pub(super) static INFO: DelegateInfo = DelegateInfo {
    id: ID,
    short_name: "xnnpack",
    name: "XNNPACK",
    platforms: &[Platform::Android, Platform::Ios, Platform::Linux, Platform::Macos, Platform::Windows],
    options: &[
        OptionInfo {
            key: options::WORKSPACE_SHARING,
            kind: OptionKind::Choice(&[("disabled", 0), ("per-model", 1), ("global", 2)]),
            default: "global in ExecuTorch's wheels",
            scope: Scope::Load,
            meaning: "who shares the memory of intermediate values, and so waits for each other",
        },
        OptionInfo {
            key: options::WEIGHT_CACHE,
            kind: OptionKind::Bool,
            default: "false in ExecuTorch's wheels; true with packed_cache_path",
            scope: Scope::Load,
            meaning: "share packed weights between methods of one program; they then run one after another",
        },
        OptionInfo {
            key: options::PACKED_CACHE_PATH,
            kind: OptionKind::Path,
            default: "none: packed weights are in memory only",
            scope: Scope::Load,
            meaning: "the file where the packed weights of one program are kept and mapped from, so that a later load need not pack",
        },
    ],
    needs: "nothing",
    absence: "it is part of every build",
    tested: "on Linux x86_64, by every test run",
    check: Check::None,
    prepare: weight_cache::prepare,
};
