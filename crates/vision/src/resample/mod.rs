//! Separable resampling: first down the columns, bytes to floats, then along the row.

mod scalar;

use crate::frame::Source;
use crate::taps::Taps;

/// Mixes the rows of `source` that output row `index` takes into `mixed`: one float for each byte of the columns that
/// `horizontal` reads.
pub(crate) fn vertical(
    source: &Source<'_>,
    vertical: &Taps,
    index: usize,
    horizontal: &Taps,
    mixed: &mut [f32],
) {
    scalar::vertical(source, vertical, index, horizontal, mixed);
}

/// Resamples one channel of a mixed row: the one `offset` floats into each pixel of `pixel_stride` floats.
pub(crate) fn horizontal(mixed: &[f32], pixel_stride: usize, offset: usize, taps: &Taps, line: &mut [f32]) {
    scalar::horizontal(mixed, pixel_stride, offset, taps, line);
}
