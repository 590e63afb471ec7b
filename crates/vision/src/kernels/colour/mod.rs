//! From resampled Y, U and V to red, green and blue bytes.

mod scalar;
pub(super) mod wide;

pub(super) use scalar::{round, same_size, same_size_four, yuv_to_rgb};

use crate::colour::YuvToRgb;
use crate::kernels::SAMPLE_BITS;

/// The conversion in 16-bit numbers. Products are rounded to [`SAMPLE_BITS`]; sums saturate far outside of what a byte
/// holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct FixedYuvToRgb {
    /// [`LUMA_BITS`] fraction bits.
    luma: i16,
    /// Added to the luma, with what rounds.
    bias: i16,
    /// [`CHROMA_BITS`] fraction bits.
    v_to_red: i16,
    u_to_green: i16,
    v_to_green: i16,
    u_to_blue: i16,
}

/// Coefficients of luma are below 2.
const LUMA_BITS: u32 = 14;
/// Coefficients of chroma are below 4.
const CHROMA_BITS: u32 = 13;

/// The middle of chroma.
const MIDDLE: i16 = 128 << SAMPLE_BITS;

impl FixedYuvToRgb {
    pub(crate) fn new(exact: &YuvToRgb) -> Self {
        let fixed = |value: f64, bits: u32| (value * f64::from(1 << bits)).round() as i16;
        Self {
            luma: fixed(exact.luma_scale, LUMA_BITS),
            bias: fixed(exact.luma_bias, SAMPLE_BITS) + (1 << (SAMPLE_BITS - 1)),
            v_to_red: fixed(exact.v_to_red, CHROMA_BITS),
            u_to_green: fixed(exact.u_to_green, CHROMA_BITS),
            v_to_green: fixed(exact.v_to_green, CHROMA_BITS),
            u_to_blue: fixed(exact.u_to_blue, CHROMA_BITS),
        }
    }
}
