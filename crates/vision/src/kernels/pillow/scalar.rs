//! The readable truth that every other implementation must equal.

use super::ROUND;
use crate::kernels::Rows;
use crate::taps::{PILLOW_BITS, PILLOW_LOW_BITS, Taps};

/// The weighted sum of each column of bytes.
pub(in crate::kernels) fn vertical(rows: &Rows<'_>, high: &[i16], low: &[i16], out: &mut [u8]) {
    vertical_from(rows, high, low, 0, out);
}

/// As [`vertical`], for the columns from `first` on.
pub(super) fn vertical_from(rows: &Rows<'_>, high: &[i16], low: &[i16], first: usize, out: &mut [u8]) {
    for (column, out) in out.iter_mut().enumerate().skip(first) {
        let bytes = (0..rows.count()).map(|row| rows.get(row)[column]);
        *out = weighted(bytes, high, low);
    }
}

/// The weighted sum of the pixels that each output takes, channel by channel. A pixel is `channels` bytes here and in
/// `out`, of `pixel_stride` bytes in `row`.
pub(in crate::kernels) fn horizontal(
    row: &[u8],
    pixel_stride: usize,
    channels: usize,
    taps: &Taps,
    out: &mut [u8],
) {
    horizontal_some(row, pixel_stride, channels, taps, 0..taps.len(), out);
}

/// As [`horizontal`], for some of the outputs.
pub(super) fn horizontal_some(
    row: &[u8],
    pixel_stride: usize,
    channels: usize,
    taps: &Taps,
    some: std::ops::Range<usize>,
    out: &mut [u8],
) {
    for index in some {
        let (start, high) = taps.get(index);
        for channel in 0..channels {
            let bytes = row[start * pixel_stride + channel..].iter().step_by(pixel_stride).copied();
            out[index * channels + channel] = weighted(bytes.take(high.len()), high, taps.padded_low(index));
        }
    }
}

fn weighted(bytes: impl Iterator<Item = u8>, high: &[i16], low: &[i16]) -> u8 {
    let products = bytes.zip(high.iter().zip(low)).map(|(byte, (&high, &low))| {
        i32::from(byte) * ((i32::from(high) << PILLOW_LOW_BITS) + i32::from(low))
    });
    ((products.sum::<i32>() + ROUND) >> PILLOW_BITS).clamp(0, 255) as u8
}
