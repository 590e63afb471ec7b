//! What the decode loop must know: the entry `generation`.

use super::{ParseError, at_least, nullable, present};
use serde::{Deserialize, Serialize};

/// What the decode loop must know of a model.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct GenerationEntry {
    /// Positions in the KV cache.
    pub context_length: u32,
    /// The most tokens that one call takes.
    pub max_prefill_tokens: u32,
    /// Logits a position.
    pub vocab_size: u32,
    /// The token that begins a text, if there is one.
    #[serde(deserialize_with = "nullable")]
    pub bos_id: Option<u32>,
    /// Tokens that end a text, each of them.
    pub eos_ids: Vec<u32>,
    /// Whether a prompt begins with `bos_id`, which the tokenizer does not add.
    pub add_bos: bool,
    /// Positions that layers with a window see, if there are such layers.
    #[serde(deserialize_with = "nullable")]
    pub sliding_window: Option<u32>,
    /// Positions that layers with a window keep, the newest ones; all of them where it is left out. A conversation can be
    /// taken back by `sliding_slots - sliding_window` positions from the newest one and no further, once there were more
    /// than `sliding_slots`: what the window held before is written over.
    #[serde(default, deserialize_with = "present", skip_serializing_if = "Option::is_none")]
    pub sliding_slots: Option<u32>,
    /// How to sample unless the app says otherwise.
    pub defaults: GenerationDefaults,
}

/// How to sample unless the app says otherwise.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct GenerationDefaults {
    /// Divides the logits; 0 takes the most likely token.
    #[serde(default, deserialize_with = "present", skip_serializing_if = "Option::is_none")]
    pub temperature: Option<f64>,
    /// Only so many of the most likely tokens are sampled from.
    #[serde(default, deserialize_with = "present", skip_serializing_if = "Option::is_none")]
    pub top_k: Option<u32>,
    /// Only the most likely tokens that together have this probability are sampled from, 0 < p <= 1.
    #[serde(default, deserialize_with = "present", skip_serializing_if = "Option::is_none")]
    pub top_p: Option<f64>,
    /// Divides the positive logits of tokens that are there already, and multiplies the negative ones.
    #[serde(default, deserialize_with = "present", skip_serializing_if = "Option::is_none")]
    pub repetition_penalty: Option<f64>,
}

impl GenerationEntry {
    pub(super) fn check(&self) -> Result<(), ParseError> {
        let wrong = |reason: String| Err(ParseError(format!("generation: {reason}")));
        at_least("generation: context_length", self.context_length, 1)?;
        at_least("generation: max_prefill_tokens", self.max_prefill_tokens, 1)?;
        at_least("generation: vocab_size", self.vocab_size, 1)?;
        at_least("generation: sliding_window", self.sliding_window.unwrap_or(1), 1)?;
        if self.max_prefill_tokens > self.context_length {
            return wrong(format!(
                "max_prefill_tokens is {}, more than the context_length {}",
                self.max_prefill_tokens, self.context_length
            ));
        }
        self.check_slots()?;
        if self.add_bos && self.bos_id.is_none() {
            return wrong("add_bos is true and there is no bos_id".into());
        }
        if let Some(id) = self.bos_id.iter().chain(&self.eos_ids).find(|&&id| id >= self.vocab_size) {
            return wrong(format!("the token id {id} is not below the vocab_size {}", self.vocab_size));
        }
        self.defaults.check()
    }

    fn check_slots(&self) -> Result<(), ParseError> {
        let Some(slots) = self.sliding_slots else { return Ok(()) };
        let Some(window) = self.sliding_window else {
            return Err(ParseError("generation: there are sliding_slots and no sliding_window".into()));
        };
        let (least, most) = (window.min(self.context_length), self.context_length);
        if !(least..=most).contains(&slots) {
            return Err(ParseError(format!(
                "generation: sliding_slots is {slots}, it must be {least} to {most}"
            )));
        }
        Ok(())
    }
}

impl GenerationDefaults {
    fn check(&self) -> Result<(), ParseError> {
        let in_range = |field: &str, value: Option<f64>, range: &str, holds: fn(f64) -> bool| match value {
            Some(value) if !holds(value) => {
                Err(ParseError(format!("generation: defaults: {field} is {value}, it must be {range}")))
            }
            _ => Ok(()),
        };
        at_least("generation: defaults: top_k", self.top_k.unwrap_or(1), 1)?;
        in_range("temperature", self.temperature, "at least 0", |value| value >= 0.0)?;
        in_range("top_p", self.top_p, "above 0, at most 1", |value| value > 0.0 && value <= 1.0)?;
        in_range("repetition_penalty", self.repetition_penalty, "above 0", |value| value > 0.0)
    }
}
