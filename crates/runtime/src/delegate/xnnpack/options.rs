//! XNNPACK's options. Sources: backends/xnnpack/runtime/{XNNPACKBackend.h, XnnpackBackendOptions.h,
//! XNNWorkspaceManager.cpp, XNNWeightsCache.cpp}.

use super::INFO;
use crate::delegate::{DelegateOptions, OptionValue};
use crate::error::{Error, Result};
use std::path::PathBuf;

pub(super) const WORKSPACE_SHARING: &str = "workspace_sharing_mode";
pub(super) const WEIGHT_CACHE: &str = "weight_cache_enabled";
pub(super) const PACKED_CACHE_PATH: &str = "packed_cache_path";

/// Who shares the memory that XNNPACK keeps intermediate values in. Those who share it run one after another:
/// ExecuTorch holds a lock for each call.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum WorkspaceSharing {
    /// Each delegate call of each method has its own: the most memory, and nobody waits.
    Disabled,
    /// The delegate calls of one method share it.
    PerModel,
    /// All methods of the process share it: the least memory. It shrinks only when the last of them goes.
    Global,
}

/// Options of XNNPACK for one load; what is `None` is left to ExecuTorch's default.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct XnnpackOptions {
    /// Who shares the memory of intermediate values.
    pub workspace_sharing: Option<WorkspaceSharing>,
    /// Whether methods of one program share packed weights: they hold those that are the same once, and run one after
    /// another. While they live, another program is refused: ExecuTorch 1.5.1 would confuse weights that are the same
    /// but for their scales.
    pub weight_cache: Option<bool>,
    /// A file where packed weights are kept, made if it does not exist; it implies `weight_cache`. They are mapped
    /// from there, and a later load takes them as they are. It belongs to one program, which the file of the same name
    /// with `.program` added says, and to one process at a time. Nobody else should be able to write it: ExecuTorch
    /// checks nothing in it but its bounds.
    pub packed_cache_path: Option<PathBuf>,
}

impl TryFrom<XnnpackOptions> for DelegateOptions {
    type Error = Error;

    fn try_from(options: XnnpackOptions) -> Result<Self> {
        let mut chosen = Self::new();
        if let Some(sharing) = options.workspace_sharing {
            let mode = match sharing {
                WorkspaceSharing::Disabled => 0,
                WorkspaceSharing::PerModel => 1,
                WorkspaceSharing::Global => 2,
            };
            chosen.set(INFO.id, WORKSPACE_SHARING, OptionValue::Int(mode))?;
        }
        if let Some(on) = options.weight_cache {
            chosen.set(INFO.id, WEIGHT_CACHE, OptionValue::Bool(on))?;
        }
        if let Some(path) = options.packed_cache_path {
            chosen.set_path(&INFO, PACKED_CACHE_PATH, &path)?;
        }
        Ok(chosen)
    }
}
