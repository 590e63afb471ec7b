//! The readable truth that every other implementation must equal.

use super::{FixedYuvToRgb, MIDDLE};
use crate::kernels::SAMPLE_BITS;

/// Converts lines of Y, U and V samples to bytes of red, green and blue.
pub(in crate::kernels) fn yuv_to_rgb(lines: [&[i16]; 3], by: &FixedYuvToRgb, out: [&mut [u8]; 3]) {
    yuv_to_rgb_from(lines, by, 0, out);
}

/// As [`yuv_to_rgb`], for the columns from `first` on.
pub(super) fn yuv_to_rgb_from(
    [y, u, v]: [&[i16]; 3],
    by: &FixedYuvToRgb,
    first: usize,
    [red, green, blue]: [&mut [u8]; 3],
) {
    for at in first..red.len() {
        [red[at], green[at], blue[at]] = pixel(y[at], u[at], v[at], by);
    }
}

/// One pixel, from samples with [`SAMPLE_BITS`] fraction bits.
pub(in crate::kernels) fn pixel(y: i16, u: i16, v: i16, by: &FixedYuvToRgb) -> [u8; 3] {
    let luma = y.wrapping_add(product(y, by.luma)).wrapping_add(by.bias);
    let [u, v] = [u, v].map(|chroma| chroma.wrapping_sub(MIDDLE));
    let times =
        |chroma: i16, coefficient| chroma.wrapping_add(product(chroma.wrapping_add(chroma), coefficient));
    let red = luma.saturating_add(times(v, by.v_to_red));
    let green = luma.saturating_add(times(u, by.u_to_green)).saturating_add(times(v, by.v_to_green));
    let blue = luma.saturating_add(times(u, by.u_to_blue));
    [red, green, blue].map(|value| (value >> SAMPLE_BITS).clamp(0, 255) as u8)
}

/// The product of 15 fraction bits, rounded.
fn product(a: i16, b: i16) -> i16 {
    ((i32::from(a) * i32::from(b) + (1 << 14)) >> 15) as i16
}

/// Rounds samples to bytes.
pub(in crate::kernels) fn round(samples: &[i16], out: &mut [u8]) {
    for (out, &sample) in out.iter_mut().zip(samples) {
        *out = (sample.saturating_add(1 << (SAMPLE_BITS - 1)) >> SAMPLE_BITS).clamp(0, 255) as u8;
    }
}
