//! What an answer took.

use crate::error::{Error, Result};
use hdrhistogram::Histogram;
use nearside_runtime::memory::Resident;
use std::time::Duration;

/// What an answer took. Times are of the monotonic clock.
#[derive(Debug, Clone, PartialEq)]
pub struct Statistics {
    /// Loading the model, however long ago that was.
    pub load: Duration,
    /// From the call to the first token, `None` if there was none. Waiting for whoever takes the events does not count, here
    /// and below.
    pub time_to_first_token: Option<Duration>,
    /// Tokens of the prompt, the whole conversation so far.
    pub prompt_tokens: usize,
    /// Those of them that were in the KV cache already.
    pub reused_tokens: usize,
    /// Those of them that were computed. With a cancelled prefill, less than the rest.
    pub prefilled_tokens: usize,
    /// Computing them.
    pub prefill: Duration,
    /// Tokens of the answer, without the end-of-sequence token.
    pub generated_tokens: usize,
    /// From the first token to the last one.
    pub decode: Duration,
    /// From one token of the answer to the next; `None` for an answer of less than two.
    pub between_tokens: Option<Percentiles>,
    /// Tokens that were guessed by speculation and verified.
    pub guessed_tokens: usize,
    /// Those of them that were right.
    pub accepted_tokens: usize,
    /// Tokens that were computed once more when the context was full and older ones were dropped.
    pub recomputed_tokens: usize,
    /// Calls of the model's program.
    pub model_calls: u64,
    /// The time in them.
    pub model: Duration,
    /// The rest: sampling, stop rules, text. Without waiting for whoever takes the events.
    pub own: Duration,
    /// Waiting for whoever takes the events.
    pub waited: Duration,
    /// Resident memory of the process at the end, `None` where the system does not tell.
    pub resident: Option<Resident>,
    /// How hot the device is, `None` where it is not known.
    pub thermal: Option<ThermalState>,
}

/// How hot the device is: the four levels of Apple's `ProcessInfo.thermalState`, to which Android's seven are mapped.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum ThermalState {
    /// Cool.
    Nominal,
    /// Warm; nothing is throttled.
    Fair,
    /// Hot; clocks are lowered.
    Serious,
    /// Too hot; the device may shut down.
    Critical,
}

impl ThermalState {
    /// Its name: `nominal`, `fair`, `serious`, `critical`.
    pub fn name(self) -> &'static str {
        match self {
            Self::Nominal => "nominal",
            Self::Fair => "fair",
            Self::Serious => "serious",
            Self::Critical => "critical",
        }
    }
}

/// Times from one token to the next, to 1 part in 1000.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Percentiles {
    /// Half of them were no longer.
    pub p50: Duration,
    /// 95 % of them were no longer.
    pub p95: Duration,
    /// 99 % of them were no longer.
    pub p99: Duration,
    /// The longest.
    pub max: Duration,
}

impl Statistics {
    /// Tokens a second of the prefill, `None` if nothing was computed.
    pub fn prefill_rate(&self) -> Option<f64> {
        rate(self.prefilled_tokens, self.prefill)
    }

    /// Tokens a second after the first token, `None` for an answer of less than two.
    pub fn decode_rate(&self) -> Option<f64> {
        rate(self.generated_tokens.saturating_sub(1), self.decode)
    }

    /// The share of our own time in all that was not waiting, 0 to 1.
    pub fn own_share(&self) -> f64 {
        let all = self.model + self.own;
        if all.is_zero() { 0.0 } else { self.own.as_secs_f64() / all.as_secs_f64() }
    }
}

fn rate(count: usize, time: Duration) -> Option<f64> {
    (count > 0 && !time.is_zero()).then(|| count as f64 / time.as_secs_f64())
}

/// Times from one token to the next. Recording one allocates nothing.
#[derive(Debug)]
pub(crate) struct Intervals(Histogram<u64>);

impl Intervals {
    pub(crate) fn new() -> Result<Self> {
        /// Longer ones count as so long: 10 minutes.
        const LONGEST_NS: u64 = 600_000_000_000;
        let histogram = Histogram::new_with_bounds(1, LONGEST_NS, 3);
        histogram.map(Self).map_err(|error| Error::Options(format!("no histogram can be made: {error}")))
    }

    pub(crate) fn clear(&mut self) {
        self.0.reset();
    }

    pub(crate) fn record(&mut self, interval: Duration) {
        self.0.saturating_record(u64::try_from(interval.as_nanos()).unwrap_or(u64::MAX).max(1));
    }

    pub(crate) fn percentiles(&self) -> Option<Percentiles> {
        if self.0.is_empty() {
            return None;
        }
        let at = |quantile: f64| Duration::from_nanos(self.0.value_at_quantile(quantile));
        Some(Percentiles {
            p50: at(0.5),
            p95: at(0.95),
            p99: at(0.99),
            max: Duration::from_nanos(self.0.max()),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn percentiles_are_those_of_the_intervals() {
        let mut intervals = Intervals::new().unwrap();
        assert_eq!(intervals.percentiles(), None);
        for millis in 1..=100 {
            intervals.record(Duration::from_millis(millis));
        }
        let found = intervals.percentiles().unwrap();
        for (found, millis) in [(found.p50, 50.0), (found.p95, 95.0), (found.p99, 99.0), (found.max, 100.0)] {
            let found = found.as_secs_f64() * 1000.0;
            assert!((found - millis).abs() <= millis / 500.0, "{found} is not {millis}");
        }
        intervals.clear();
        assert_eq!(intervals.percentiles(), None);
    }
}
