//! Tap tables: which source samples make each output sample, and with which weights, along one axis.

use std::ops::Range;

use crate::{ChromaSiting, Filter};

/// One axis of the resampling, in source coordinates.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Axis {
    /// Samples of the frame along this axis.
    pub(crate) frame_len: u32,
    /// The part of them that is the picture: the crop.
    pub(crate) origin: u32,
    pub(crate) source_len: u32,
    /// The picture is resized to this many samples,
    pub(crate) scaled_len: u64,
    /// of which `len` from `window` on are kept.
    pub(crate) window: u64,
    pub(crate) len: u32,
    /// Whether output 0 is the last of them.
    pub(crate) flip: bool,
    /// Where the samples of a halved plane sit along this axis.
    pub(crate) siting: ChromaSiting,
}

/// A table of taps: for each output sample, consecutive source samples and their weights, which sum to 1.
#[derive(Debug, Default)]
pub(crate) struct Taps {
    entries: Vec<Entry>,
    weights: Vec<f32>,
    /// The source samples that any output reads. Tap positions count from its start.
    span: Range<usize>,
    /// Work space for one output.
    row: Vec<f64>,
    halved_row: Vec<f64>,
}

#[derive(Clone, Copy, Debug)]
struct Entry {
    start: usize,
    first_weight: usize,
    count: usize,
}

impl Taps {
    /// Fills the table, reusing its memory. With `halved`, the source is a chroma plane of half the resolution.
    pub(crate) fn rebuild(&mut self, filter: Filter, axis: &Axis, halved: bool) {
        self.entries.clear();
        self.weights.clear();
        let (mut first, mut end) = (usize::MAX, 0);
        for index in 0..axis.len {
            let kept = if axis.flip { axis.len - 1 - index } else { index };
            let position = axis.window.saturating_add(kept.into());
            let in_picture = match filter {
                Filter::Bilinear => bilinear(axis, position, &mut self.row),
                Filter::BilinearAntialias => bilinear_antialias(axis, position, &mut self.row),
            };
            let mut start = in_picture + axis.origin as usize;
            let row = if halved {
                start = through_upsampling(start, &self.row, axis, &mut self.halved_row);
                &self.halved_row
            } else {
                &self.row
            };
            self.entries.push(Entry { start, first_weight: self.weights.len(), count: row.len() });
            self.weights.extend(row.iter().map(|&weight| weight as f32));
            first = first.min(start);
            end = end.max(start + row.len());
        }
        for entry in &mut self.entries {
            entry.start -= first;
        }
        self.span = first..end;
    }

    /// The source samples that any output reads.
    pub(crate) fn span(&self) -> Range<usize> {
        self.span.clone()
    }

    /// Taps of every output: position of the first within the span, and the weights.
    pub(crate) fn iter(&self) -> impl ExactSizeIterator<Item = (usize, &[f32])> {
        self.entries.iter().map(|entry| self.resolve(entry))
    }

    /// Taps of output `index`.
    pub(crate) fn get(&self, index: usize) -> (usize, &[f32]) {
        self.resolve(&self.entries[index])
    }

    fn resolve(&self, entry: &Entry) -> (usize, &[f32]) {
        (entry.start, &self.weights[entry.first_weight..entry.first_weight + entry.count])
    }
}

/// OpenCV's `INTER_LINEAR` (`imgproc/src/resize.cpp`): half-pixel centres, clamped at the edge.
fn bilinear(axis: &Axis, position: u64, row: &mut Vec<f64>) -> usize {
    let scale = f64::from(axis.source_len) / axis.scaled_len as f64;
    let last = f64::from(axis.source_len - 1);
    let center = ((position as f64 + 0.5) * scale - 0.5).clamp(0.0, last);
    let start = center.floor();
    let fraction = center - start;
    row.clear();
    row.push(1.0 - fraction);
    if fraction > 0.0 {
        row.push(fraction);
    }
    start as usize
}

/// Pillow's `BILINEAR` (`precompute_coeffs` in `libImaging/Resample.c`): a triangle whose half width is one output
/// pixel when shrinking and one source pixel when enlarging, cut at the edge and normalised.
fn bilinear_antialias(axis: &Axis, position: u64, row: &mut Vec<f64>) -> usize {
    let scale = f64::from(axis.source_len) / axis.scaled_len as f64;
    let support = scale.max(1.0);
    let center = (position as f64 + 0.5) * scale;
    // Casts cut off at 0, as there.
    let start = ((center - support + 0.5) as u32).min(axis.source_len - 1);
    let end = ((center + support + 0.5) as u32).clamp(start + 1, axis.source_len);
    row.clear();
    row.extend((start..end).map(|at| (1.0 - ((f64::from(at) - center + 0.5) / support).abs()).max(0.0)));
    while row.len() > 1 && row.last() == Some(&0.0) {
        row.pop();
    }
    let sum: f64 = row.iter().sum();
    row.iter_mut().for_each(|weight| *weight /= sum);
    start as usize
}

/// Rewrites taps on a full-resolution axis as taps on the half-resolution one from which it is upsampled.
///
/// Sited in the centre (JPEG, MPEG-1), chroma sample `k` lies midway between luma samples `2k` and `2k + 1`, so
/// each luma sample takes three quarters of its own chroma sample and one quarter of the next nearest. Sited on the left
/// (MPEG-2), it lies on luma sample `2k`, and those between two chroma samples take half of each. Composing both
/// steps gives what upsampling the plane and resampling it then would.
fn through_upsampling(start: usize, row: &[f64], axis: &Axis, halved: &mut Vec<f64>) -> usize {
    let last = axis.frame_len.div_ceil(2) as usize - 1;
    let nearest_two = |luma: usize| {
        let near = luma / 2;
        let after = (near + 1).min(last);
        match (axis.siting, luma.is_multiple_of(2)) {
            (ChromaSiting::Center, true) => [(near, 0.75), (near.saturating_sub(1), 0.25)],
            (ChromaSiting::Center, false) => [(near, 0.75), (after, 0.25)],
            (ChromaSiting::Left, true) => [(near, 1.0), (near, 0.0)],
            (ChromaSiting::Left, false) => [(near, 0.5), (after, 0.5)],
        }
    };
    let reach = |luma: usize| nearest_two(luma).map(|(at, _)| at);
    let first = reach(start).into_iter().min().unwrap_or(0);
    let end = reach(start + row.len() - 1).into_iter().max().unwrap_or(0);
    halved.clear();
    halved.resize(end - first + 1, 0.0);
    for (offset, weight) in row.iter().enumerate() {
        for (at, share) in nearest_two(start + offset) {
            halved[at - first] += weight * share;
        }
    }
    first
}

#[cfg(test)]
mod tests {
    use super::*;

    fn axis(source_len: u32, scaled_len: u32) -> Axis {
        Axis {
            frame_len: source_len,
            origin: 0,
            source_len,
            scaled_len: scaled_len.into(),
            window: 0,
            len: scaled_len,
            flip: false,
            siting: ChromaSiting::Center,
        }
    }

    fn taps(filter: Filter, axis: Axis, halved: bool) -> Vec<(usize, Vec<f32>)> {
        let mut taps = Taps::default();
        taps.rebuild(filter, &axis, halved);
        let first = taps.span().start;
        taps.iter().map(|(start, weights)| (first + start, weights.to_vec())).collect()
    }

    #[test]
    fn a_table_of_the_same_size_copies() {
        for filter in [Filter::Bilinear, Filter::BilinearAntialias] {
            let expected: Vec<_> = (0..5).map(|at| (at, vec![1.0])).collect();
            assert_eq!(taps(filter, axis(5, 5), false), expected);
        }
    }

    #[test]
    fn halving_takes_two_samples_or_a_triangle_of_four() {
        assert_eq!(taps(Filter::Bilinear, axis(8, 4), false)[1], (2, vec![0.5, 0.5]));
        assert_eq!(
            taps(Filter::BilinearAntialias, axis(8, 4), false)[1],
            (1, vec![0.125, 0.375, 0.375, 0.125])
        );
    }

    #[test]
    fn chroma_at_full_resolution_is_upsampled_from_the_centre() {
        let all = taps(Filter::Bilinear, axis(5, 5), true);
        assert_eq!(
            all,
            [
                (0, vec![1.0]),
                (0, vec![0.75, 0.25]),
                (0, vec![0.25, 0.75]),
                (1, vec![0.75, 0.25]),
                (1, vec![0.25, 0.75])
            ]
        );
    }

    #[test]
    fn weights_sum_to_one_and_stay_inside_for_any_geometry() {
        for filter in [Filter::Bilinear, Filter::BilinearAntialias] {
            for (frame_len, origin, source_len) in
                [(1_u32, 0, 1), (2, 1, 1), (7, 2, 5), (97, 0, 97), (1280, 131, 1001)]
            {
                for scaled_len in [1, 2, 3, 64, 224, 1281] {
                    for (halved, limit) in [(false, frame_len), (true, frame_len.div_ceil(2))] {
                        let axis = Axis { frame_len, origin, ..axis(source_len, scaled_len) };
                        for (start, weights) in taps(filter, axis, halved) {
                            assert!((weights.iter().sum::<f32>() - 1.0).abs() < 1e-5);
                            assert!(start + weights.len() <= limit as usize);
                        }
                    }
                }
            }
        }
    }

    #[test]
    fn a_flipped_table_is_the_same_table_backwards() {
        let forward = taps(Filter::BilinearAntialias, axis(97, 20), true);
        let mut backward = taps(Filter::BilinearAntialias, Axis { flip: true, ..axis(97, 20) }, true);
        backward.reverse();
        assert_eq!(forward, backward);
    }
}
