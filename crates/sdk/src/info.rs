//! What is known of an opened model.

use nearside_pipeline as pipeline;

use crate::MemoryInfo;
use crate::classification::{count, milliseconds};

/// What is known of an opened model.
#[derive(Clone, Debug, PartialEq, uniffi::Record)]
pub struct ModelInfo {
    /// Its name.
    pub name: String,
    /// SPDX id of the licence of its weights.
    pub licence: String,
    /// Where it comes from.
    pub source: String,
    /// The variant that was loaded.
    pub variant: String,
    /// Its quantisation scheme, `none` for fp32.
    pub quantisation: String,
    /// Ids of the delegates that it uses.
    pub delegates: Vec<String>,
    /// Operators left on portable kernels.
    pub operators: Vec<String>,
    /// Operator calls inside delegates / all calls, 0 to 1: as counted in the program, or at export where a delegate
    /// does not tell what is in it.
    pub coverage: f64,
    /// Width of the input in pixels.
    pub input_width: i32,
    /// Height of the input in pixels.
    pub input_height: i32,
    /// Number of labels.
    pub classes: i32,
    /// Bytes of the program's file, without data files.
    pub program_bytes: i64,
    /// What it takes of memory.
    pub memory: MemoryInfo,
    /// Threads that kernels use.
    pub threads: i32,
    /// Milliseconds from the verified package to the first finished run.
    pub load_ms: f64,
}

impl From<&pipeline::ModelInfo> for ModelInfo {
    fn from(info: &pipeline::ModelInfo) -> Self {
        Self {
            name: info.name.clone(),
            licence: info.licence.clone(),
            source: info.source.clone(),
            variant: info.variant.clone(),
            quantisation: info.quantisation.clone(),
            delegates: info.delegates.clone(),
            operators: info.operators.clone(),
            coverage: info.coverage,
            input_width: count(info.input_width),
            input_height: count(info.input_height),
            classes: count(info.classes),
            program_bytes: count(info.program_bytes),
            memory: (&info.memory).into(),
            threads: count(info.threads),
            load_ms: milliseconds(info.load),
        }
    }
}
