//! The two passes of Pillow's resizing: bytes to bytes, each with 22-bit weights and rounding
//! (`ImagingResampleHorizontal_8bpc` and `…Vertical_8bpc` in `libImaging/Resample.c`).
//!
//! A weight is `high << 11 | low`, so that both parts fit 16-bit multiplications; the sum is the same to the last bit.

mod scalar;
pub(super) mod wide;

pub(super) use scalar::{horizontal, vertical};

use crate::taps::PILLOW_BITS;

const ROUND: i32 = 1 << (PILLOW_BITS - 1);
