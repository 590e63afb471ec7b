//! The readable truth that every other implementation must equal.

use super::{CHROMA_BITS, FixedYuvToRgb, LUMA_BITS, MIDDLE};
use crate::kernels::{SAMPLE_BITS, round_shift};

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
fn pixel(y: i16, u: i16, v: i16, by: &FixedYuvToRgb) -> [u8; 3] {
    let luma = times(y, by.luma, LUMA_BITS).wrapping_add(by.bias);
    let [u, v] = [u, v].map(|chroma| chroma.wrapping_sub(MIDDLE));
    let times = |chroma, coefficient| times(chroma, coefficient, CHROMA_BITS);
    let red = luma.saturating_add(times(v, by.v_to_red));
    let green = luma.saturating_add(times(u, by.u_to_green)).saturating_add(times(v, by.v_to_green));
    let blue = luma.saturating_add(times(u, by.u_to_blue));
    [red, green, blue].map(|value| (value >> SAMPLE_BITS).clamp(0, 255) as u8)
}

/// The product, rounded half up.
fn times(value: i16, coefficient: i16, bits: u32) -> i16 {
    round_shift(i32::from(value) * i32::from(coefficient), bits) as i16
}

/// Converts a row of 4:2:0 at its own size: bytes of Y, and [`chroma`](crate::kernels::chroma) with one sample more on
/// either side, mixed down the columns, or widened where it is not interpolated.
pub(in crate::kernels) fn same_size(
    y: &[u8],
    chroma: [&[i16]; 2],
    nearest: bool,
    by: &FixedYuvToRgb,
    out: [&mut [u8]; 3],
) {
    same_size_from(y, chroma, nearest, by, 0, out);
}

/// As [`same_size`], for the columns from `first` on.
pub(super) fn same_size_from(
    y: &[u8],
    chroma: [&[i16]; 2],
    nearest: bool,
    by: &FixedYuvToRgb,
    first: usize,
    [red, green, blue]: [&mut [u8]; 3],
) {
    for at in first..red.len() {
        [red[at], green[at], blue[at]] = same_size_pixel(y, chroma, nearest, by, at);
    }
}

/// As [`same_size`], to pixels of four bytes: red and blue, the other way around if `blue_first`, and 255.
pub(in crate::kernels) fn same_size_four(
    y: &[u8],
    chroma: [&[i16]; 2],
    nearest: bool,
    by: &FixedYuvToRgb,
    blue_first: bool,
    out: &mut [u8],
) {
    same_size_four_from(y, chroma, nearest, by, blue_first, 0, out);
}

/// As [`same_size_four`], for the columns from `first` on.
pub(super) fn same_size_four_from(
    y: &[u8],
    chroma: [&[i16]; 2],
    nearest: bool,
    by: &FixedYuvToRgb,
    blue_first: bool,
    first: usize,
    out: &mut [u8],
) {
    for (at, out) in out.as_chunks_mut().0.iter_mut().enumerate().skip(first) {
        let [red, green, blue] = same_size_pixel(y, chroma, nearest, by, at);
        *out = if blue_first { [blue, green, red, 255] } else { [red, green, blue, 255] };
    }
}

fn same_size_pixel(y: &[u8], chroma: [&[i16]; 2], nearest: bool, by: &FixedYuvToRgb, at: usize) -> [u8; 3] {
    let near = at / 2 + 1;
    let next = if at.is_multiple_of(2) { near - 1 } else { near + 1 };
    let [u, v] = chroma.map(|line| {
        let whole = if nearest { line[near] } else { 3 * line[near] + line[next] };
        (whole >> (8 - SAMPLE_BITS)) + MIDDLE
    });
    pixel(i16::from(y[at]) << SAMPLE_BITS, u, v, by)
}

/// Rounds samples to bytes, halves up, or to the even byte.
#[inline(always)]
pub(in crate::kernels) fn round(samples: &[i16], half_to_even: bool, out: &mut [u8]) {
    const HALF: i16 = 1 << (SAMPLE_BITS - 1);
    for (out, &sample) in out.iter_mut().zip(samples) {
        let half = if half_to_even { HALF - 1 + ((sample >> SAMPLE_BITS) & 1) } else { HALF };
        *out = (sample.saturating_add(half) >> SAMPLE_BITS).clamp(0, 255) as u8;
    }
}
