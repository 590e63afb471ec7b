//! What is known of an opened text model.

use nearside_pipeline as pipeline;

use crate::MemoryInfo;
use crate::classification::{count, milliseconds};

/// What is known of an opened text model.
#[derive(Clone, Debug, PartialEq, uniffi::Record)]
pub struct TextModelInfo {
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
    /// Operators left outside of delegates.
    pub operators: Vec<String>,
    /// Operator calls inside delegates / all calls, 0 to 1: as counted in the program, or at export where a delegate
    /// does not tell what is in it.
    pub coverage: f64,
    /// Tokens that a conversation can have.
    pub context_length: i32,
    /// The most tokens of a prompt that one call of the program takes; longer prompts are computed in several.
    pub max_prefill_tokens: i32,
    /// Tokens that there are.
    pub vocab_size: i32,
    /// Tokens that end an answer.
    pub end_ids: Vec<i32>,
    /// Whether messages can be written as its text.
    pub has_chat_template: bool,
    /// Whether guessed tokens can be verified.
    pub can_speculate: bool,
    /// Bytes of the program's file, without data files.
    pub program_bytes: i64,
    /// What it takes of memory, without a draft model.
    pub memory: MemoryInfo,
    /// Threads that kernels use.
    pub threads: i32,
    /// Milliseconds from the verified package to the first finished run.
    pub load_ms: f64,
}

impl From<&pipeline::TextModelInfo> for TextModelInfo {
    fn from(info: &pipeline::TextModelInfo) -> Self {
        Self {
            name: info.name.clone(),
            licence: info.licence.clone(),
            source: info.source.clone(),
            variant: info.variant.clone(),
            quantisation: info.quantisation.clone(),
            delegates: info.delegates.clone(),
            operators: info.operators.clone(),
            coverage: info.coverage,
            context_length: count(info.context_length),
            max_prefill_tokens: count(info.max_prefill_tokens),
            vocab_size: count(info.vocab_size),
            end_ids: info.end_ids.iter().map(|&id| count(id)).collect(),
            has_chat_template: info.has_chat_template,
            can_speculate: info.can_speculate,
            program_bytes: count(info.program_bytes),
            memory: (&info.memory).into(),
            threads: count(info.threads),
            load_ms: milliseconds(info.load),
        }
    }
}
