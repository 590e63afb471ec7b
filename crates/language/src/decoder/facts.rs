//! What the decode loop must know of a decoder's program.

use super::metadata;
use crate::error::{Error, Result};
use nearside_runtime::Program;

/// What a package's manifest, or else the program itself, says of a decoder.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DecoderFacts {
    /// Positions in the KV cache.
    pub context_length: usize,
    /// The most tokens that one call takes. The program's own bound holds where it is lower.
    pub max_prefill_tokens: usize,
    /// Logits a position.
    pub vocab_size: usize,
    /// The token that begins a text, if there is one.
    pub bos_id: Option<u32>,
    /// Tokens that end a text, each of them.
    pub eos_ids: Vec<u32>,
    /// Whether a text begins with `bos_id`.
    pub add_bos: bool,
    /// Set if there are layers that see only the newest positions.
    pub sliding: Option<Sliding>,
}

/// Layers that see only the newest positions.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Sliding {
    /// Positions that they see.
    pub window: usize,
    /// Positions that they keep, in a ring. `None`: all of them.
    pub slots: Option<usize>,
}

impl DecoderFacts {
    /// What the program's constant methods say, by the names of ExecuTorch's own runners: `get_max_seq_len`,
    /// `get_max_context_len`, `get_vocab_size`, `get_bos_id`, `get_eos_ids` or `get_eos_id`, `sliding_window`. For programs
    /// without a manifest.
    ///
    /// # Errors
    /// [`Error::NotADecoder`] if it says no length, or one that is not possible.
    pub fn of_program(program: &Program) -> Result<Self> {
        let constants = metadata::constants(program)?;
        let number = |name: &str| constants.get(name).and_then(|values| values.first()).copied();
        let length = |name: &str| match number(name) {
            None => Ok(None),
            Some(value) => match usize::try_from(value) {
                Ok(value) if value > 0 => Ok(Some(value)),
                _ => Err(not_a_decoder(program, format!("its {name} is {value}"))),
            },
        };
        let token = |value: i64| u32::try_from(value).ok();
        let Some(seq_len) = length("get_max_seq_len")? else {
            return Err(not_a_decoder(program, "it has no method get_max_seq_len".into()));
        };
        let context_length = length("get_max_context_len")?.unwrap_or(seq_len);
        let Some(vocab_size) = length("get_vocab_size")? else {
            return Err(not_a_decoder(program, "it has no method get_vocab_size".into()));
        };
        let bos_id = number("get_bos_id").and_then(token);
        Ok(Self {
            context_length,
            max_prefill_tokens: seq_len.min(context_length),
            vocab_size,
            bos_id,
            eos_ids: end_ids(&constants),
            add_bos: bos_id.is_some(),
            // The ring, if there is one, has no name among the constants: nothing is taken back then.
            sliding: length("sliding_window")?
                .map(|window| Sliding { window, slots: Some(window.min(context_length)) }),
        })
    }
}

/// The end-of-sequence ids that the program itself names, in either spelling.
pub(super) fn end_ids(constants: &metadata::Constants) -> Vec<u32> {
    let named = ["get_eos_ids", "get_eos_id"].into_iter().filter_map(|name| constants.get(name)).flatten();
    let mut ids: Vec<u32> = named.filter_map(|&id| u32::try_from(id).ok()).collect();
    ids.sort_unstable();
    ids.dedup();
    ids
}

pub(super) fn not_a_decoder(program: &Program, reason: String) -> Error {
    Error::NotADecoder { program: program.name().to_owned(), reason }
}
