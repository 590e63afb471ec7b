//! Core ML: Apple's Neural Engine, GPU and CPU.
//!
//! ```
//! use nearside_runtime::delegate::{ComputeUnit, CoreMlOptions, DelegateOptions};
//!
//! # fn main() -> nearside_runtime::Result<()> {
//! let options = CoreMlOptions { compute_unit: Some(ComputeUnit::CpuAndNeuralEngine), ..CoreMlOptions::default() };
//! let options = DelegateOptions::try_from(options)?;
//! # Ok(())
//! # }
//! ```
//! Sources: backends/apple/coreml/runtime/{include/coreml_backend/coreml_backend_options.h,
//! delegate/coreml_backend_delegate.mm, delegate/backend_delegate.mm}.

use super::option::{OptionInfo, OptionKind, OptionValue, Scope};
use super::{Check, DelegateInfo, DelegateOptions, Platform, nothing_to_prepare};
use crate::error::{Error, Result};
use std::path::PathBuf;

pub(super) static INFO: DelegateInfo = DelegateInfo {
    id: "CoreMLBackend",
    short_name: "coreml",
    name: "Core ML",
    platforms: &[Platform::Ios, Platform::Macos],
    options: &[
        OptionInfo {
            key: "compute_unit",
            kind: OptionKind::Word(&["cpu_only", "cpu_and_gpu", "cpu_and_ne", "all"]),
            default: "what the program was exported for",
            scope: Scope::Load,
            meaning: "the processors that Core ML may use",
        },
        OptionInfo {
            key: "cache_dir",
            kind: OptionKind::Path,
            default: "the delegate's own database in the app's support folder",
            scope: Scope::Load,
            meaning: "the folder where compiled models are kept",
        },
        OptionInfo {
            key: "_use_new_cache",
            kind: OptionKind::Bool,
            default: "false",
            scope: Scope::Load,
            meaning: "keep compiled models in files rather than in the database; ExecuTorch calls it temporary",
        },
    ],
    needs: "iOS 16 or macOS 13 and later; nothing beside the system",
    absence: "not linked elsewhere: 0x20 (NotFound) at method load",
    tested: "not run on a device",
    check: Check::None,
    prepare: nothing_to_prepare,
};

/// What Core ML may run on.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ComputeUnit {
    /// The CPU.
    CpuOnly,
    /// The CPU and the GPU.
    CpuAndGpu,
    /// The CPU and the Neural Engine.
    CpuAndNeuralEngine,
    /// All of them.
    All,
}

/// Options of Core ML; what is `None` is left as it is.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct CoreMlOptions {
    /// The processors that Core ML may use, in place of those given at export.
    pub compute_unit: Option<ComputeUnit>,
    /// The folder where compiled models are kept, so that a second load need not compile.
    pub cache_dir: Option<PathBuf>,
}

impl TryFrom<CoreMlOptions> for DelegateOptions {
    type Error = Error;

    fn try_from(options: CoreMlOptions) -> Result<Self> {
        let mut chosen = Self::new();
        if let Some(unit) = options.compute_unit {
            let word = match unit {
                ComputeUnit::CpuOnly => "cpu_only",
                ComputeUnit::CpuAndGpu => "cpu_and_gpu",
                ComputeUnit::CpuAndNeuralEngine => "cpu_and_ne",
                ComputeUnit::All => "all",
            };
            chosen.set(INFO.id, "compute_unit", OptionValue::Text(word.into()))?;
        }
        if let Some(path) = options.cache_dir {
            chosen.set_path(&INFO, "cache_dir", &path)?;
        }
        Ok(chosen)
    }
}
