//! The readable truth that every other implementation must equal.

use crate::frame::{Sample, Source, p010, rgb565};
use crate::taps::Taps;

pub(super) fn vertical(
    source: &Source<'_>,
    vertical: &Taps,
    index: usize,
    horizontal: &Taps,
    channel: usize,
    mixed: &mut [f32],
) {
    let columns = horizontal.span();
    let (start, weights) = vertical.get(index);
    let first_row = vertical.span().start + start;
    mixed.fill(0.0);
    for (row, &weight) in (first_row..).zip(weights) {
        // All bytes between the channels are mixed too: skipping them would cost more.
        let (bytes, tail) = source.row(row, columns.start, columns.len());
        let (mixed, mixed_tail) = mixed.split_at_mut(bytes.len());
        for (mixed, bytes) in [(mixed, bytes), (mixed_tail, tail)] {
            match source.sample {
                Sample::U8 => add_weighted(mixed, bytes, weight),
                Sample::P010 => {
                    add_weighted_pairs(mixed, bytes, weight, |pair| f32::from(p010(pair)) / 4.0);
                }
                Sample::Rgb565 => {
                    add_weighted_pairs(mixed, bytes, weight, |pair| f32::from(rgb565(pair)[channel]));
                }
            }
        }
    }
}

fn add_weighted_pairs(sums: &mut [f32], bytes: &[u8], weight: f32, value: impl Fn([u8; 2]) -> f32) {
    for (sum, pair) in sums.iter_mut().zip(bytes.array_windows()) {
        *sum += weight * value(*pair);
    }
}

fn add_weighted(sums: &mut [f32], bytes: &[u8], weight: f32) {
    for (sum, &byte) in sums.iter_mut().zip(bytes) {
        *sum += weight * f32::from(byte);
    }
}

pub(super) fn horizontal(mixed: &[f32], pixel_stride: usize, offset: usize, taps: &Taps, line: &mut [f32]) {
    for (out, (start, weights)) in line.iter_mut().zip(taps.iter()) {
        let samples = mixed[start * pixel_stride + offset..].iter().step_by(pixel_stride);
        *out = weights.iter().zip(samples).map(|(weight, sample)| weight * sample).sum();
    }
}
