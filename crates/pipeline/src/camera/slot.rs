//! A pooled place for one frame on its way from capture to inference.

use nearside_vision::FrameBuffer;
use std::time::Instant;

/// A copied frame, the tensor made from it, and when what happened.
pub(crate) struct Slot {
    pub(crate) buffer: FrameBuffer,
    pub(crate) tensor: Vec<f32>,
    pub(crate) frame: u64,
    pub(crate) timestamp_ns: i64,
    pub(crate) offered: Instant,
    pub(crate) copied: Instant,
    pub(crate) decode_started: Instant,
    pub(crate) decoded: Instant,
}

impl Slot {
    pub(crate) fn new(tensor_len: usize) -> Self {
        let now = Instant::now();
        Self {
            buffer: FrameBuffer::new(),
            tensor: vec![0.0; tensor_len],
            frame: 0,
            timestamp_ns: 0,
            offered: now,
            copied: now,
            decode_started: now,
            decoded: now,
        }
    }
}
