//! How tokens are chosen.

use nearside_pipeline::language;

use super::invalid;
use crate::classification::count;
use crate::{NearsideError, Result};

/// How tokens are chosen. The defaults change nothing: the model's own distribution, every token.
#[derive(Clone, Debug, PartialEq, uniffi::Record)]
pub struct SamplingOptions {
    /// Logits are divided by it. 0 takes the most likely token each time.
    #[uniffi(default = 1.0)]
    pub temperature: f32,
    /// Only so many of the most likely tokens; 0 for no limit.
    #[uniffi(default = 0)]
    pub top_k: i32,
    /// Only the fewest most likely tokens that make up this much of the probability, above 0 to 1.
    #[uniffi(default = 1.0)]
    pub top_p: f32,
    /// Only tokens with at least this share of the most likely one's probability, 0 to 1.
    #[uniffi(default = 0.0)]
    pub min_p: f32,
    /// Makes tokens that were there less likely, as in `transformers`: above 0, 1 is off.
    #[uniffi(default = 1.0)]
    pub repetition_penalty: f32,
    /// Taken from the logit of each token that was generated, -2 to 2.
    #[uniffi(default = 0.0)]
    pub presence_penalty: f32,
    /// Taken from a token's logit once for each time it was generated, -2 to 2.
    #[uniffi(default = 0.0)]
    pub frequency_penalty: f32,
    /// How many of the last tokens the penalties look at; all if unset.
    #[uniffi(default = None)]
    pub penalty_window: Option<i32>,
    /// Where the random numbers begin; one from the system if unset. All 64 bits count.
    #[uniffi(default = None)]
    pub seed: Option<i64>,
    /// Added to the logits of single tokens; minus infinity bans one.
    #[uniffi(default = [])]
    pub logit_bias: Vec<TokenBias>,
}

/// What is added to the logit of a token.
#[derive(Clone, Copy, Debug, PartialEq, uniffi::Record)]
pub struct TokenBias {
    /// The token.
    pub id: i32,
    /// What is added.
    pub bias: f32,
}

impl TryFrom<SamplingOptions> for language::SamplingOptions {
    type Error = NearsideError;

    fn try_from(options: SamplingOptions) -> Result<Self> {
        let counted = |what: &str, number: i32| {
            u32::try_from(number).map_err(|_| invalid(format!("{what} can't be {number}"), "give 0 or more"))
        };
        let bias = options.logit_bias.iter().map(|one| Ok((counted("a token", one.id)?, one.bias)));
        Ok(Self {
            temperature: options.temperature,
            top_k: counted("top_k", options.top_k)?,
            top_p: options.top_p,
            min_p: options.min_p,
            repetition_penalty: options.repetition_penalty,
            presence_penalty: options.presence_penalty,
            frequency_penalty: options.frequency_penalty,
            penalty_window: options
                .penalty_window
                .map(|window| counted("penalty_window", window))
                .transpose()?,
            seed: options.seed.map(i64::cast_unsigned),
            logit_bias: bias.collect::<Result<_>>()?,
        })
    }
}

impl From<&language::SamplingOptions> for SamplingOptions {
    fn from(options: &language::SamplingOptions) -> Self {
        Self {
            temperature: options.temperature,
            top_k: count(options.top_k),
            top_p: options.top_p,
            min_p: options.min_p,
            repetition_penalty: options.repetition_penalty,
            presence_penalty: options.presence_penalty,
            frequency_penalty: options.frequency_penalty,
            penalty_window: options.penalty_window.map(count),
            seed: options.seed.map(u64::cast_signed),
            logit_bias: options
                .logit_bias
                .iter()
                .map(|&(id, bias)| TokenBias { id: count(id), bias })
                .collect(),
        }
    }
}
