//! MLX: the GPU of Apple silicon.
//!
//! Its options `skip_mutable_buffer_init` and `cache_key` need objects of its C++ side that this project does not make,
//! so they are not offered. Sources: backends/mlx/runtime/{backend_options.h, MLXBackend.cpp}.

use super::option::{OptionInfo, OptionKind, Scope};
use super::{Check, DelegateInfo, DelegateOptions, Platform, nothing_to_prepare};
use crate::error::{Error, Result};

pub(super) static INFO: DelegateInfo = DelegateInfo {
    id: "MLXBackend",
    short_name: "mlx",
    name: "MLX",
    platforms: &[Platform::Ios, Platform::Macos],
    options: &[OptionInfo {
        key: "clear_cache_interval",
        kind: OptionKind::Int { min: 0, max: i32::MAX },
        default: "0, never",
        scope: Scope::Load,
        meaning: "runs after which MLX's pool of buffers, one for the process, is given back",
    }],
    needs: "Apple silicon with Metal; its mlx.metallib beside the library",
    absence: "not linked elsewhere: 0x20 (NotFound) at method load; without Metal is_available() is false",
    tested: "not run on a device",
    check: Check::None,
    prepare: nothing_to_prepare,
};

/// Options of MLX; what is `None` is left as it is.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct MlxOptions {
    /// Runs after which MLX's pool of buffers is given back to the system; 0 is never.
    pub clear_cache_interval: Option<u32>,
}

impl TryFrom<MlxOptions> for DelegateOptions {
    type Error = Error;

    fn try_from(options: MlxOptions) -> Result<Self> {
        let mut chosen = Self::new();
        if let Some(runs) = options.clear_cache_interval {
            chosen = Self::parse(INFO.id, &[("clear_cache_interval", &runs.to_string())])?;
        }
        Ok(chosen)
    }
}
