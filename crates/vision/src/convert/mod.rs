//! Colour conversion, normalisation and layout of one resampled row.

mod scalar;

use crate::colour::YuvToRgb;

/// Converts a row from Y, U, V to R, G, B in place, unclamped.
pub(crate) fn yuv_to_rgb(lines: [&mut [f32]; 3], coefficients: &YuvToRgb) {
    scalar::yuv_to_rgb(lines, coefficients);
}

/// Writes `value * scale + bias`, the value clamped to 0..=255, to `out[first]`, `out[first + step]` and so on.
pub(crate) fn normalise(line: &[f32], scale: f32, bias: f32, out: &mut [f32], first: usize, step: usize) {
    scalar::normalise(line, scale, bias, out, first, step);
}
