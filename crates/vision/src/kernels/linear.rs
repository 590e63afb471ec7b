//! OpenCV's `INTER_LINEAR` on bytes (`imgproc/src/resize.cpp`), truncations and all: first sums with 11-bit weights, of
//! which the lowest 4 bits are cut, then products of which the lowest 16 are.
//!
//! Plain loops, which the compiler turns into vectors for each instruction set.

/// What is left of a byte's 8 bits and a weight's 11 between the passes.
const CUT: u32 = 4;

/// Two neighbours of one output, and their weights with 11 fraction bits.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct LinearTap {
    pub(crate) first: u32,
    pub(crate) second: u32,
    pub(crate) weights: [i16; 2],
}

/// The first pass, along the row: pixels of `channels` bytes every `pixel_stride`.
#[inline(always)]
pub(super) fn first_along(
    row: &[u8],
    pixel_stride: usize,
    channels: usize,
    taps: &[LinearTap],
    out: &mut [i16],
) {
    for (out, tap) in out.chunks_exact_mut(channels).zip(taps) {
        let [first, second] =
            [tap.first, tap.second].map(|at| &row[at as usize * pixel_stride..][..channels]);
        for ((out, &first), &second) in out.iter_mut().zip(first).zip(second) {
            *out = first_pass(first, second, tap.weights);
        }
    }
}

/// The first pass, down the columns.
#[inline(always)]
pub(super) fn first_down(first: &[u8], second: &[u8], weights: [i16; 2], out: &mut [i16]) {
    for ((out, &first), &second) in out.iter_mut().zip(first).zip(second) {
        *out = first_pass(first, second, weights);
    }
}

/// The second pass, down the columns.
#[inline(always)]
pub(super) fn second_down(first: &[i16], second: &[i16], weights: [i16; 2], out: &mut [u8]) {
    for ((out, &first), &second) in out.iter_mut().zip(first).zip(second) {
        *out = second_pass(first, second, weights);
    }
}

/// The second pass, along the row.
#[inline(always)]
pub(super) fn second_along(
    row: &[i16],
    pixel_stride: usize,
    channels: usize,
    taps: &[LinearTap],
    out: &mut [u8],
) {
    for (out, tap) in out.chunks_exact_mut(channels).zip(taps) {
        let [first, second] =
            [tap.first, tap.second].map(|at| &row[at as usize * pixel_stride..][..channels]);
        for ((out, &first), &second) in out.iter_mut().zip(first).zip(second) {
            *out = second_pass(first, second, tap.weights);
        }
    }
}

#[inline(always)]
fn first_pass(first: u8, second: u8, [a, b]: [i16; 2]) -> i16 {
    ((i32::from(first) * i32::from(a) + i32::from(second) * i32::from(b)) >> CUT) as i16
}

#[inline(always)]
fn second_pass(first: i16, second: i16, [a, b]: [i16; 2]) -> u8 {
    let product = |value: i16, weight: i16| ((i32::from(value) * i32::from(weight)) >> 16) as i16;
    ((product(first, a) + product(second, b) + 2) >> 2).clamp(0, 255) as u8
}
