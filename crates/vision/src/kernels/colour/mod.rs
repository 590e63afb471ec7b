//! From resampled Y, U and V to red, green and blue bytes.

mod scalar;
pub(super) mod wide;

pub(super) use scalar::{round, yuv_to_rgb};

use crate::colour::YuvToRgb;
use crate::kernels::SAMPLE_BITS;

/// The conversion in 16-bit numbers: each coefficient less 1, since the products with 1 are there already. Products are
/// rounded to [`SAMPLE_BITS`]; sums saturate far outside of what a byte holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct FixedYuvToRgb {
    /// 15 fraction bits.
    luma: i16,
    /// Added to the luma, with what rounds.
    bias: i16,
    /// 14 fraction bits.
    v_to_red: i16,
    u_to_green: i16,
    v_to_green: i16,
    u_to_blue: i16,
}

/// The middle of chroma.
const MIDDLE: i16 = 128 << SAMPLE_BITS;

impl FixedYuvToRgb {
    pub(crate) fn new(exact: &YuvToRgb) -> Self {
        let less_one = |value: f64, bits: u32| ((value - 1.0) * f64::from(1 << bits)).round() as i16;
        let one = f64::from(1 << SAMPLE_BITS);
        Self {
            luma: less_one(exact.luma_scale, 15),
            bias: (exact.luma_bias * one).round() as i16 + (1 << (SAMPLE_BITS - 1)),
            v_to_red: less_one(exact.v_to_red, 14),
            u_to_green: less_one(exact.u_to_green, 14),
            v_to_green: less_one(exact.v_to_green, 14),
            u_to_blue: less_one(exact.u_to_blue, 14),
        }
    }
}
