//! Labels, and where the time went.

use std::time::Duration;

use nearside_pipeline as pipeline;

/// A class and how much the model believes in it.
#[derive(Clone, Debug, PartialEq, uniffi::Record)]
pub struct ScoredLabel {
    /// The class.
    pub index: i32,
    /// Its name in the package's labels.
    pub name: String,
    /// Its probability, 0 to 1.
    pub score: f32,
}

/// The labels of a photo.
#[derive(Clone, Debug, PartialEq, uniffi::Record)]
pub struct Classification {
    /// The best labels, best first.
    pub labels: Vec<ScoredLabel>,
    /// How long each step took.
    pub timings: ImageTimings,
}

/// Where the time of one photo went, in milliseconds.
#[derive(Clone, Copy, Debug, PartialEq, uniffi::Record)]
pub struct ImageTimings {
    /// Waiting for a free thread.
    pub queue_ms: f64,
    /// From pixels to the input tensor.
    pub preprocess_ms: f64,
    /// In the model.
    pub inference_ms: f64,
}

/// The labels of a camera frame.
#[derive(Clone, Debug, PartialEq, uniffi::Record)]
pub struct FrameClassification {
    /// The frame's number: 0 for the first that was offered.
    pub frame: i64,
    /// The timestamp that it was offered with.
    pub timestamp_ns: i64,
    /// The best labels, best first.
    pub labels: Vec<ScoredLabel>,
    /// Where its time went.
    pub timings: FrameTimings,
}

/// Where a frame's time went, from being offered to its result being taken, in milliseconds.
#[derive(Clone, Copy, Debug, PartialEq, uniffi::Record)]
pub struct FrameTimings {
    /// Copying its planes.
    pub capture_ms: f64,
    /// Waiting for the decode thread.
    pub decode_wait_ms: f64,
    /// From pixels to the input tensor.
    pub decode_ms: f64,
    /// Waiting for the inference thread.
    pub inference_wait_ms: f64,
    /// In the model.
    pub inference_ms: f64,
    /// From the model's end until the result was taken.
    pub delivery_ms: f64,
    /// The whole way.
    pub end_to_end_ms: f64,
}

impl From<pipeline::Label> for ScoredLabel {
    fn from(label: pipeline::Label) -> Self {
        Self { index: count(label.index), name: label.name.as_ref().to_owned(), score: label.score }
    }
}

impl From<pipeline::Classification> for Classification {
    fn from(classification: pipeline::Classification) -> Self {
        let timings = classification.timings;
        Self {
            labels: classification.labels.into_iter().map(Into::into).collect(),
            timings: ImageTimings {
                queue_ms: milliseconds(timings.queue),
                preprocess_ms: milliseconds(timings.preprocess),
                inference_ms: milliseconds(timings.inference),
            },
        }
    }
}

impl From<&pipeline::FrameClassification> for FrameClassification {
    fn from(classification: &pipeline::FrameClassification) -> Self {
        Self {
            frame: count(classification.frame),
            timestamp_ns: classification.timestamp_ns,
            labels: classification.labels.iter().cloned().map(Into::into).collect(),
            timings: classification.timings.into(),
        }
    }
}

impl From<pipeline::FrameTimings> for FrameTimings {
    fn from(timings: pipeline::FrameTimings) -> Self {
        Self {
            capture_ms: milliseconds(timings.capture),
            decode_wait_ms: milliseconds(timings.decode_wait),
            decode_ms: milliseconds(timings.decode),
            inference_wait_ms: milliseconds(timings.inference_wait),
            inference_ms: milliseconds(timings.inference),
            delivery_ms: milliseconds(timings.delivery),
            end_to_end_ms: milliseconds(timings.end_to_end),
        }
    }
}

pub(crate) fn milliseconds(duration: Duration) -> f64 {
    duration.as_secs_f64() * 1000.0
}

/// A count as the signed type that Kotlin and Swift like; one beyond its range can't come up in practice.
pub(crate) fn count<U, S: TryFrom<U> + Limit>(count: U) -> S {
    S::try_from(count).unwrap_or(S::LIMIT)
}

/// The largest value of a signed type.
pub(crate) trait Limit {
    const LIMIT: Self;
}

impl Limit for i32 {
    const LIMIT: Self = Self::MAX;
}

impl Limit for i64 {
    const LIMIT: Self = Self::MAX;
}
