//! Counts and latencies of a camera pipeline.

use super::event::FrameTimings;
use hdrhistogram::Histogram;
use std::fmt;
use std::sync::Mutex;
use std::sync::PoisonError;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

/// What became of the frames so far. After closing, `offered = delivered + replaced + failed`.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct CameraStats {
    /// Frames offered.
    pub offered: u64,
    /// Frames whose labels were taken.
    pub delivered: u64,
    /// Frames given up for a newer one, or whose labels nobody had taken when the camera was closed.
    pub replaced: u64,
    /// Frames that could not be classified.
    pub failed: u64,
    /// How long the delivered ones took. `None` without any.
    pub latency: Option<Latency>,
}

/// Latencies of the delivered frames; the stages are those of [`FrameTimings`].
#[derive(Debug, Clone, Copy, PartialEq)]
#[allow(missing_docs)]
pub struct Latency {
    pub capture: Percentiles,
    pub decode_wait: Percentiles,
    pub decode: Percentiles,
    pub inference_wait: Percentiles,
    pub inference: Percentiles,
    pub delivery: Percentiles,
    pub end_to_end: Percentiles,
}

/// Percentiles of a latency in milliseconds.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Percentiles {
    /// The median.
    pub p50: f64,
    /// 95 % are no longer.
    pub p95: f64,
    /// 99 % are no longer.
    pub p99: f64,
}

/// Counts that every stage adds to.
#[derive(Debug, Default)]
pub(crate) struct Counts {
    offered: AtomicU64,
    delivered: AtomicU64,
    replaced: AtomicU64,
    failed: AtomicU64,
}

impl Counts {
    /// Gives the number of frames offered before.
    pub(crate) fn offered(&self) -> u64 {
        self.offered.fetch_add(1, Ordering::Relaxed)
    }

    pub(crate) fn delivered(&self) {
        self.delivered.fetch_add(1, Ordering::Relaxed);
    }

    pub(crate) fn replaced(&self) {
        self.replaced.fetch_add(1, Ordering::Relaxed);
    }

    pub(crate) fn failed(&self) {
        self.failed.fetch_add(1, Ordering::Relaxed);
    }

    pub(crate) fn stats(&self, latencies: &Latencies) -> CameraStats {
        CameraStats {
            offered: self.offered.load(Ordering::Relaxed),
            delivered: self.delivered.load(Ordering::Relaxed),
            replaced: self.replaced.load(Ordering::Relaxed),
            failed: self.failed.load(Ordering::Relaxed),
            latency: latencies.percentiles(),
        }
    }
}

const STAGES: usize = 7;

/// Histograms of the stages, of fixed size.
pub(crate) struct Latencies(Mutex<[Histogram<u32>; STAGES]>);

impl Latencies {
    pub(crate) fn new() -> Self {
        Self(Mutex::new(std::array::from_fn(|_| histogram())))
    }

    pub(crate) fn record(&self, timings: &FrameTimings) {
        let stages = [
            timings.capture,
            timings.decode_wait,
            timings.decode,
            timings.inference_wait,
            timings.inference,
            timings.delivery,
            timings.end_to_end,
        ];
        let mut histograms = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        for (histogram, stage) in histograms.iter_mut().zip(stages) {
            histogram.saturating_record(microseconds(stage));
        }
    }

    fn percentiles(&self) -> Option<Latency> {
        let histograms = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if histograms[0].is_empty() {
            return None;
        }
        let [capture, decode_wait, decode, inference_wait, inference, delivery, end_to_end] =
            std::array::from_fn(|stage| percentiles(&histograms[stage]));
        Some(Latency { capture, decode_wait, decode, inference_wait, inference, delivery, end_to_end })
    }
}

impl fmt::Debug for Latencies {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Latencies").field(&self.percentiles()).finish()
    }
}

/// 1 microsecond to 10 minutes, to three digits.
fn histogram() -> Histogram<u32> {
    Histogram::new_with_bounds(1, 600_000_000, 3).unwrap_or_else(|_| unreachable!("the bounds are valid"))
}

fn microseconds(duration: Duration) -> u64 {
    u64::try_from(duration.as_micros()).unwrap_or(u64::MAX)
}

fn percentiles(histogram: &Histogram<u32>) -> Percentiles {
    let milliseconds = |quantile| histogram.value_at_quantile(quantile) as f64 / 1000.0;
    Percentiles { p50: milliseconds(0.5), p95: milliseconds(0.95), p99: milliseconds(0.99) }
}
