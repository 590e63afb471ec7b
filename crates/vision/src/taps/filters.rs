//! The filters: weights of the source samples for one output sample, in double precision.

use super::Axis;

/// What weighs the samples along an axis.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Kernel {
    /// Pillow's `NEAREST`.
    Nearest,
    /// OpenCV's `INTER_LINEAR`.
    Linear,
    /// Pillow's `BILINEAR`.
    Triangle,
    /// Pillow's `BICUBIC`.
    Cubic,
    /// OpenCV's `INTER_AREA` where it shrinks in both directions.
    Area,
    /// OpenCV's `INTER_AREA` where it enlarges in one of them.
    AreaEnlarging,
}

impl Kernel {
    /// Puts the weights of output `position` into `row`, and gives the source sample that the first is for, within
    /// the crop.
    ///
    /// `middle` is work space of [`Kernel::Nearest`], at first none: where the middle of the last position was.
    pub(super) fn taps(
        self,
        axis: &Axis,
        position: u64,
        middle: &mut Option<(u64, f64)>,
        row: &mut Vec<f64>,
    ) -> usize {
        match self {
            Self::Nearest => nearest(axis, position, middle, row),
            Self::Linear => linear(axis, position, row),
            Self::Triangle => pillow(axis, position, row, 1.0, triangle),
            Self::Cubic => pillow(axis, position, row, 2.0, cubic),
            Self::Area => area(axis, position, row),
            Self::AreaEnlarging => area_enlarging(axis, position, row),
        }
    }
}

/// Pillow's `NEAREST` (`ImagingScaleAffine` in `libImaging/Geometry.c`): the sample under the middle. The scale is added
/// up, as there: where the middle falls on the border of two samples, the errors of the sum decide.
fn nearest(axis: &Axis, position: u64, last: &mut Option<(u64, f64)>, row: &mut Vec<f64>) -> usize {
    /// Beyond, only the middle of a picture that was made huge is looked at.
    const MOST_SUMMED: u64 = 1 << 15;
    let scale = f64::from(axis.source_len) / axis.scaled_len as f64;
    let middle = if position < MOST_SUMMED {
        let (from, sum) = last.filter(|&(from, _)| from <= position).unwrap_or((0, scale * 0.5));
        (from..position).fold(sum, |sum, _| sum + scale)
    } else {
        (position as f64 + 0.5) * scale
    };
    *last = Some((position, middle));
    row.clear();
    row.push(1.0);
    middle.min(f64::from(axis.source_len - 1)) as usize
}

/// OpenCV's `INTER_LINEAR` (`imgproc/src/resize.cpp`): half-pixel centres, clamped at the edge.
fn linear(axis: &Axis, position: u64, row: &mut Vec<f64>) -> usize {
    let scale = f64::from(axis.source_len) / axis.scaled_len as f64;
    let center = (position as f64 + 0.5) * scale - 0.5;
    between_two(axis, center.floor(), center - center.floor(), row)
}

/// OpenCV's `INTER_AREA` when enlarging (`imgproc/src/resize.cpp`): flat steps, linear between them.
fn area_enlarging(axis: &Axis, position: u64, row: &mut Vec<f64>) -> usize {
    let inverse = axis.scaled_len as f64 / f64::from(axis.source_len);
    // Divided twice, as there: it decides on which side of a whole number a position falls.
    let scale = 1.0 / inverse;
    let start = (position as f64 * scale).floor();
    let fraction = (position + 1) as f64 - (start + 1.0) * inverse;
    let fraction = if fraction <= 0.0 { 0.0 } else { fraction - fraction.floor() };
    between_two(axis, start, fraction, row)
}

/// Two neighbours, or the one at the edge.
fn between_two(axis: &Axis, start: f64, fraction: f64, row: &mut Vec<f64>) -> usize {
    let last = f64::from(axis.source_len - 1);
    row.clear();
    if start < 0.0 || start >= last {
        row.push(1.0);
        return start.clamp(0.0, last) as usize;
    }
    row.extend([1.0 - fraction, fraction]);
    start as usize
}

/// `precompute_coeffs` in Pillow's `libImaging/Resample.c`: a filter stretched by the shrinking, cut at the edge and
/// normalised.
fn pillow(axis: &Axis, position: u64, row: &mut Vec<f64>, radius: f64, filter: fn(f64) -> f64) -> usize {
    let scale = f64::from(axis.source_len) / axis.scaled_len as f64;
    let stretch = scale.max(1.0);
    let support = radius * stretch;
    let center = (position as f64 + 0.5) * scale;
    // Casts cut off at 0, as there.
    let start = ((center - support + 0.5) as u32).min(axis.source_len - 1);
    let end = ((center + support + 0.5) as u32).clamp(start + 1, axis.source_len);
    row.clear();
    row.extend((start..end).map(|at| filter((f64::from(at) - center + 0.5) / stretch)));
    let sum: f64 = row.iter().sum();
    if sum != 0.0 {
        row.iter_mut().for_each(|weight| *weight /= sum);
    }
    start as usize
}

fn triangle(x: f64) -> f64 {
    (1.0 - x.abs()).max(0.0)
}

/// Keys' cubic with a = -0.5, as in Pillow and, antialiased, in PyTorch.
fn cubic(x: f64) -> f64 {
    const A: f64 = -0.5;
    let x = x.abs();
    if x < 1.0 {
        ((A + 2.0) * x - (A + 3.0)) * x * x + 1.0
    } else if x < 2.0 {
        (((x - 5.0) * x + 8.0) * x - 4.0) * A
    } else {
        0.0
    }
}

/// OpenCV's `INTER_AREA` when shrinking (`computeResizeAreaTab` in `imgproc/src/resize.cpp`): the share of each
/// source sample in the cell, shares below a thousandth left out.
fn area(axis: &Axis, position: u64, row: &mut Vec<f64>) -> usize {
    const LEAST: f64 = 1e-3;
    let scale = f64::from(axis.source_len) / axis.scaled_len as f64;
    let source_len = f64::from(axis.source_len);
    let begin = position as f64 * scale;
    let end = begin + scale;
    let width = scale.min(source_len - begin);
    let last_whole = end.floor().min(source_len - 1.0);
    let first_whole = begin.ceil().min(last_whole);
    row.clear();
    let mut start = first_whole;
    if first_whole - begin > LEAST {
        start -= 1.0;
        row.push((first_whole - begin) / width);
    }
    row.extend((first_whole as u32..last_whole as u32).map(|_| 1.0 / width));
    if end - last_whole > LEAST {
        row.push((end - last_whole).min(1.0).min(width) / width);
    }
    let sum: f64 = row.iter().sum();
    row.iter_mut().for_each(|weight| *weight /= sum);
    start as usize
}
