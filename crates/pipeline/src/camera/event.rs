//! What a camera pipeline gives.

use crate::classification::Label;
use crate::error::Error;
use std::time::Duration;

/// What became of a frame.
#[derive(Debug, Clone)]
pub enum CameraEvent {
    /// It was classified.
    Classified(FrameClassification),
    /// It could not be; the stream goes on.
    Failed {
        /// Its number: 0 for the first that was offered.
        frame: u64,
        /// The timestamp that it was offered with.
        timestamp_ns: i64,
        /// Why.
        error: Error,
    },
}

/// The labels of a frame.
#[derive(Debug, Clone, PartialEq)]
pub struct FrameClassification {
    /// Its number: 0 for the first that was offered.
    pub frame: u64,
    /// The timestamp that it was offered with.
    pub timestamp_ns: i64,
    /// The best labels, best first.
    pub labels: Vec<Label>,
    /// Where its time went.
    pub timings: FrameTimings,
}

/// Where a frame's time went, from being offered to its event being taken.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct FrameTimings {
    /// Copying its planes into a slot.
    pub capture: Duration,
    /// Waiting for the decode thread.
    pub decode_wait: Duration,
    /// From pixels to the input tensor.
    pub decode: Duration,
    /// Waiting for the inference thread.
    pub inference_wait: Duration,
    /// In the model.
    pub inference: Duration,
    /// From the model's end until the event was taken.
    pub delivery: Duration,
    /// The whole way.
    pub end_to_end: Duration,
}

/// The next event, or why there is none.
#[derive(Debug, Clone)]
pub enum Next {
    /// An event.
    Event(CameraEvent),
    /// None yet.
    Pending,
    /// There will be none any more.
    Ended,
}
