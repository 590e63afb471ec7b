//! What became of a camera's frames.

use nearside_pipeline as pipeline;

use crate::classification::count;

/// What became of the frames so far. After closing, `offered = delivered + replaced + failed`.
#[derive(Clone, Debug, PartialEq, uniffi::Record)]
pub struct CameraStats {
    /// Frames offered.
    pub offered: i64,
    /// Frames whose labels were taken.
    pub delivered: i64,
    /// Frames given up for a newer one, or whose labels nobody had taken when the camera was closed.
    pub replaced: i64,
    /// Frames that could not be classified.
    pub failed: i64,
    /// How long the delivered ones took; unset without any.
    pub latency: Option<Latency>,
}

/// Latencies of the delivered frames; the stages are those of a frame's timings.
#[derive(Clone, Copy, Debug, PartialEq, uniffi::Record)]
pub struct Latency {
    /// Copying the planes.
    pub capture: Percentiles,
    /// Waiting for the decode thread.
    pub decode_wait: Percentiles,
    /// From pixels to the input tensor.
    pub decode: Percentiles,
    /// Waiting for the inference thread.
    pub inference_wait: Percentiles,
    /// In the model.
    pub inference: Percentiles,
    /// From the model's end until the result was taken.
    pub delivery: Percentiles,
    /// The whole way.
    pub end_to_end: Percentiles,
}

/// Percentiles of a latency in milliseconds.
#[derive(Clone, Copy, Debug, PartialEq, uniffi::Record)]
pub struct Percentiles {
    /// The median.
    pub p50_ms: f64,
    /// 95 % are no longer.
    pub p95_ms: f64,
    /// 99 % are no longer.
    pub p99_ms: f64,
}

impl From<pipeline::CameraStats> for CameraStats {
    fn from(stats: pipeline::CameraStats) -> Self {
        Self {
            offered: count(stats.offered),
            delivered: count(stats.delivered),
            replaced: count(stats.replaced),
            failed: count(stats.failed),
            latency: stats.latency.map(Into::into),
        }
    }
}

impl From<pipeline::Latency> for Latency {
    fn from(latency: pipeline::Latency) -> Self {
        Self {
            capture: latency.capture.into(),
            decode_wait: latency.decode_wait.into(),
            decode: latency.decode.into(),
            inference_wait: latency.inference_wait.into(),
            inference: latency.inference.into(),
            delivery: latency.delivery.into(),
            end_to_end: latency.end_to_end.into(),
        }
    }
}

impl From<pipeline::Percentiles> for Percentiles {
    fn from(percentiles: pipeline::Percentiles) -> Self {
        Self { p50_ms: percentiles.p50, p95_ms: percentiles.p95, p99_ms: percentiles.p99 }
    }
}
