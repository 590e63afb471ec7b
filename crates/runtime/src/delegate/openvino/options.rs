//! OpenVINO's options. ExecuTorch passes none on to it, so they go by way of the environment.

use super::INFO;
use crate::delegate::{DelegateOptions, OptionValue};
use crate::error::{Error, Result};
use std::path::PathBuf;

pub(super) const LIBRARY: &str = "library";
pub(super) const ALLOW_REDUCED_PRECISION: &str = "allow_reduced_precision";

/// Options of OpenVINO. They hold for the process from its first use on, and a later load that asks for something
/// else is refused with [`Error::DelegateOptionRefused`].
///
/// OpenVINO reads them from the environment (`OPENVINO_LIB_PATH`, `ONEDNN_MAX_CPU_ISA`). Where they are set there
/// already, nothing is changed. Else they are put there, if that is sound: while the process has one thread, or with
/// glibc 2.41 or later. If it is not, the load is refused and says which variable to set.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct OpenVinoOptions {
    /// The file of OpenVINO's C library, such as `libopenvino_c.so.2541`.
    pub library: Option<PathBuf>,
    /// Whether f32 programs may be computed in fewer bits. OpenVINO does so by default where the CPU has bf16, with
    /// errors of some 10⁻² of the values, and ignores the precision given at export.
    pub allow_reduced_precision: Option<bool>,
}

impl TryFrom<OpenVinoOptions> for DelegateOptions {
    type Error = Error;

    fn try_from(options: OpenVinoOptions) -> Result<Self> {
        let mut chosen = Self::new();
        if let Some(path) = options.library {
            chosen.set_path(&INFO, LIBRARY, &path)?;
        }
        if let Some(allowed) = options.allow_reduced_precision {
            chosen.set(INFO.id, ALLOW_REDUCED_PRECISION, OptionValue::Bool(allowed))?;
        }
        Ok(chosen)
    }
}
