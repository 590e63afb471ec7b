//! The readable truth that every other implementation must equal.

use crate::frame::p010;
use crate::kernels::{Rows, round_shift, saturate};
use crate::taps::FIXED_BITS;

/// From products of bytes and weights to [`SAMPLE_BITS`](crate::kernels::SAMPLE_BITS).
pub(in crate::kernels) const SHIFT: u32 = FIXED_BITS - crate::kernels::SAMPLE_BITS;

/// The weighted sum of each column of bytes.
pub(in crate::kernels) fn mix(rows: &Rows<'_>, weights: &[i16], out: &mut [i16]) {
    mix_from(rows, weights, 0, out);
}

/// As [`mix`], for the columns from `first` on.
pub(super) fn mix_from(rows: &Rows<'_>, weights: &[i16], first: usize, out: &mut [i16]) {
    for (column, out) in out.iter_mut().enumerate().skip(first) {
        let products =
            (0..rows.count()).map(|row| i32::from(rows.get(row)[column]) * i32::from(weights[row]));
        *out = saturate(round_shift(products.sum(), SHIFT));
    }
}

/// As [`mix`], of two channels that lie interleaved, each to a line of its own.
pub(in crate::kernels) fn mix_pairs(rows: &Rows<'_>, weights: &[i16], out: [&mut [i16]; 2]) {
    mix_pairs_from(rows, weights, 0, out);
}

/// As [`mix_pairs`], for the columns from `first` on.
pub(super) fn mix_pairs_from(rows: &Rows<'_>, weights: &[i16], first: usize, out: [&mut [i16]; 2]) {
    for (channel, out) in out.into_iter().enumerate() {
        for (column, out) in out.iter_mut().enumerate().skip(first) {
            *out = mix_column(rows, weights, 2 * column + channel);
        }
    }
}

fn mix_column(rows: &Rows<'_>, weights: &[i16], column: usize) -> i16 {
    let products = (0..rows.count()).map(|row| i32::from(rows.get(row)[column]) * i32::from(weights[row]));
    saturate(round_shift(products.sum(), SHIFT))
}

/// The weighted sum of each column of P010 samples: 16 bits, little endian, of which the upper 10 count. They lie every
/// `step` bytes from `offset` on.
pub(in crate::kernels) fn mix_p010(
    rows: &Rows<'_>,
    weights: &[i16],
    step: usize,
    offset: usize,
    sums: &mut [i32],
    out: &mut [i16],
) {
    sums.fill(0);
    for (row, &weight) in (0..rows.count()).zip(weights) {
        let bytes = &rows.get(row)[offset..];
        match step {
            2 => add_p010::<2>(bytes, weight, sums),
            4 => add_p010::<4>(bytes, weight, sums),
            _ => {
                for (sum, sample) in sums.iter_mut().zip(bytes.chunks(step)) {
                    *sum += i32::from(p010([sample[0], sample[1]])) * i32::from(weight);
                }
            }
        }
    }
    // Two bits more than a byte has.
    for (out, sum) in out.iter_mut().zip(sums) {
        *out = saturate(round_shift(*sum, SHIFT + 2));
    }
}

#[inline(always)]
fn add_p010<const STEP: usize>(bytes: &[u8], weight: i16, sums: &mut [i32]) {
    let (samples, rest) = bytes.as_chunks::<STEP>();
    for (sum, sample) in sums.iter_mut().zip(samples) {
        *sum += i32::from(p010([sample[0], sample[1]])) * i32::from(weight);
    }
    // The last sample is not followed by the rest of its step.
    if let (Some(sum), [low, high, ..]) = (sums.get_mut(samples.len()), rest) {
        *sum += i32::from(p010([*low, *high])) * i32::from(weight);
    }
}
