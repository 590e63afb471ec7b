//! Separable resampling: first down the columns, bytes to floats, then along the row.

mod scalar;

use crate::frame::Source;
use crate::taps::Taps;

/// Mixes the rows of `source` that output row `index` takes into `mixed`: one float for each byte of the columns that
/// `horizontal` reads, on 0..=255. A sample of two bytes stands where its first byte does; of one that holds all channels,
/// `channel` is taken.
pub(crate) fn vertical(
    source: &Source<'_>,
    vertical: &Taps,
    index: usize,
    horizontal: &Taps,
    channel: usize,
    mixed: &mut [f32],
) {
    scalar::vertical(source, vertical, index, horizontal, channel, mixed);
}

/// Resamples one channel of a mixed row: the one `offset` floats into each pixel of `pixel_stride` floats.
pub(crate) fn horizontal(mixed: &[f32], pixel_stride: usize, offset: usize, taps: &Taps, line: &mut [f32]) {
    scalar::horizontal(mixed, pixel_stride, offset, taps, line);
}
