//! QNN's options, which hold for the process. Sources: backends/qualcomm/runtime/{QnnExecuTorch.h,
//! QnnExecuTorchBackend.cpp} and serialization/qc_compiler_spec.fbs.

use super::INFO;
use crate::delegate::{DelegateOptions, OptionValue};
use crate::error::{Error, Result};

pub(super) const LOG_LEVEL: &str = "qnn_runtime_log_level";
pub(super) const HTP_PERFORMANCE: &str = "qnn_runtime_htp_performance_mode";

/// What the delegate and Qualcomm's libraries log.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[allow(missing_docs)]
pub enum LogLevel {
    Off,
    Error,
    Warn,
    Info,
    Verbose,
    Debug,
}

/// Speed against power on the NPU (Qualcomm's performance modes).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[allow(missing_docs)]
pub enum HtpPerformance {
    Default,
    SustainedHighPerformance,
    Burst,
    HighPerformance,
    PowerSaver,
    LowPowerSaver,
    HighPowerSaver,
    LowBalanced,
    Balanced,
}

/// Options of QNN that most apps need; the others can be given by name. They hold for the process from the next load
/// on; what is `None` stays as it is.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct QnnOptions {
    /// What is logged.
    pub log_level: Option<LogLevel>,
    /// Speed against power on the NPU.
    pub htp_performance: Option<HtpPerformance>,
}

impl TryFrom<QnnOptions> for DelegateOptions {
    type Error = Error;

    fn try_from(options: QnnOptions) -> Result<Self> {
        let mut chosen = Self::new();
        // The variants are in the order of Qualcomm's numbers.
        if let Some(level) = options.log_level {
            chosen.set(INFO.id, LOG_LEVEL, OptionValue::Int(level as i32))?;
        }
        if let Some(mode) = options.htp_performance {
            chosen.set(INFO.id, HTP_PERFORMANCE, OptionValue::Int(mode as i32))?;
        }
        Ok(chosen)
    }
}
