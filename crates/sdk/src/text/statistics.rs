//! What an answer took.

use nearside_pipeline::language;

use super::ThermalState;
use crate::ResidentMemory;
use crate::classification::{count, milliseconds};

/// What an answer took. Waiting for whoever takes its events counts in `waited_ms` only.
#[derive(Clone, Debug, PartialEq, uniffi::Record)]
pub struct TextStatistics {
    /// Loading the model, however long ago that was.
    pub load_ms: f64,
    /// From the call to the first token; unset without one.
    pub time_to_first_token_ms: Option<f64>,
    /// Tokens of the prompt, the whole conversation so far.
    pub prompt_tokens: i32,
    /// Those of them that were in the KV cache already.
    pub reused_tokens: i32,
    /// Those of them that were computed.
    pub prefilled_tokens: i32,
    /// Computing them.
    pub prefill_ms: f64,
    /// Tokens a second of that; unset if nothing was computed.
    pub prefill_tokens_per_second: Option<f64>,
    /// Tokens of the answer, without the one that ended it.
    pub generated_tokens: i32,
    /// From the first token to the last one.
    pub decode_ms: f64,
    /// Tokens a second after the first token; unset for an answer of less than two.
    pub decode_tokens_per_second: Option<f64>,
    /// From one token to the next; unset for an answer of less than two.
    pub between_tokens: Option<TokenIntervals>,
    /// Tokens that were guessed and verified.
    pub guessed_tokens: i32,
    /// Those of them that were right.
    pub accepted_tokens: i32,
    /// Tokens that were computed once more when the context was full and older ones were dropped.
    pub recomputed_tokens: i32,
    /// Calls of the model's program.
    pub model_calls: i64,
    /// The time in them.
    pub model_ms: f64,
    /// The rest: sampling, stop rules, text.
    pub own_ms: f64,
    /// Waiting for whoever takes the events.
    pub waited_ms: f64,
    /// Memory of the process at the end; unset where the system does not tell.
    pub resident: Option<ResidentMemory>,
    /// How hot the device was, as the app has told.
    pub thermal: Option<ThermalState>,
}

/// Times from one token to the next, in milliseconds.
#[derive(Clone, Copy, Debug, PartialEq, uniffi::Record)]
pub struct TokenIntervals {
    /// The median.
    pub p50_ms: f64,
    /// 95 % are no longer.
    pub p95_ms: f64,
    /// 99 % are no longer.
    pub p99_ms: f64,
    /// The longest.
    pub max_ms: f64,
}

impl From<&language::Statistics> for TextStatistics {
    fn from(statistics: &language::Statistics) -> Self {
        Self {
            load_ms: milliseconds(statistics.load),
            time_to_first_token_ms: statistics.time_to_first_token.map(milliseconds),
            prompt_tokens: count(statistics.prompt_tokens),
            reused_tokens: count(statistics.reused_tokens),
            prefilled_tokens: count(statistics.prefilled_tokens),
            prefill_ms: milliseconds(statistics.prefill),
            prefill_tokens_per_second: statistics.prefill_rate(),
            generated_tokens: count(statistics.generated_tokens),
            decode_ms: milliseconds(statistics.decode),
            decode_tokens_per_second: statistics.decode_rate(),
            between_tokens: statistics.between_tokens.map(|between| TokenIntervals {
                p50_ms: milliseconds(between.p50),
                p95_ms: milliseconds(between.p95),
                p99_ms: milliseconds(between.p99),
                max_ms: milliseconds(between.max),
            }),
            guessed_tokens: count(statistics.guessed_tokens),
            accepted_tokens: count(statistics.accepted_tokens),
            recomputed_tokens: count(statistics.recomputed_tokens),
            model_calls: count(statistics.model_calls),
            model_ms: milliseconds(statistics.model),
            own_ms: milliseconds(statistics.own),
            waited_ms: milliseconds(statistics.waited),
            resident: statistics.resident.map(Into::into),
            thermal: statistics.thermal.map(Into::into),
        }
    }
}
