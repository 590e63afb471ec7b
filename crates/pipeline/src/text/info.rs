//! What is known of an opened text model.

use crate::loaded::Facts;
use crate::package::Package;
use crate::package::manifest::Variant;
use nearside_language::LanguageModel;
use nearside_runtime::memory::MemoryNeed;
use nearside_runtime::thread_count;
use std::time::Duration;

/// What is known of an opened text model.
#[derive(Debug, Clone, PartialEq)]
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
    /// Operator calls inside delegates / all calls, 0 to 1: as counted in the program, or at export where a delegate does
    /// not tell what is in it.
    pub coverage: f64,
    /// Tokens that a conversation can have.
    pub context_length: usize,
    /// The most tokens of a prompt that one call takes; longer prompts are computed in as many calls as they need.
    pub max_prefill_tokens: usize,
    /// Tokens that there are.
    pub vocab_size: usize,
    /// Tokens that end an answer.
    pub end_ids: Vec<u32>,
    /// Whether messages can be written as its text.
    pub has_chat_template: bool,
    /// Whether guessed tokens can be verified: whether the program gives the logits of several tokens.
    pub can_speculate: bool,
    /// Bytes of the program's file, without data files.
    pub program_bytes: u64,
    /// What it takes of memory, computed from its files, without a draft model.
    pub memory: MemoryNeed,
    /// Threads that kernels use.
    pub threads: usize,
    /// From the verified package to the first finished run.
    pub load: Duration,
}

impl TextModelInfo {
    pub(super) fn new(
        package: &Package,
        variant: &Variant,
        facts: &Facts,
        model: &LanguageModel,
        load: Duration,
    ) -> Self {
        let manifest = package.manifest();
        Self {
            name: manifest.name.clone(),
            licence: manifest.licence.clone(),
            source: manifest.source.clone(),
            variant: variant.name.clone(),
            quantisation: variant.quantisation.clone(),
            delegates: facts.delegates.clone(),
            operators: facts.operators.clone(),
            coverage: facts.coverage.unwrap_or(variant.coverage),
            context_length: model.facts().context_length,
            max_prefill_tokens: model.decoder().most_tokens(),
            vocab_size: model.facts().vocab_size,
            end_ids: model.end_ids().to_vec(),
            has_chat_template: model.template().is_some(),
            can_speculate: model.can_speculate(),
            program_bytes: variant.program.bytes,
            memory: facts.memory.clone(),
            threads: thread_count(),
            load,
        }
    }
}
