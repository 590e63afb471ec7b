//! Tap tables: which source samples make each output sample, and with which weights, along one axis.

mod chroma;
mod filters;
// Nothing unsafe, and too many tables to interpret.
#[cfg(all(test, not(miri)))]
mod tests;
mod weights;

use std::ops::Range;

pub(crate) use filters::Kernel;
pub(crate) use weights::{FIXED_BITS, PILLOW_BITS, PILLOW_LOW_BITS, Precision};

use crate::ChromaSiting;

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
    /// Whether the picture is seen from its other end: the last source sample is the first.
    pub(crate) mirrored: bool,
    /// Whether output 0 is the last of those kept.
    pub(crate) backwards: bool,
}

impl Axis {
    /// Whether the picture gets no larger.
    pub(crate) fn shrinks(&self) -> bool {
        u64::from(self.source_len) >= self.scaled_len
    }

    /// The first source sample of the part that is kept, within the crop, where nothing is resized.
    pub(crate) fn first(&self) -> u32 {
        let window = self.window as u32;
        if self.mirrored { self.source_len - window - self.len } else { window }
    }

    /// Which sample of the resized picture output `index` is.
    pub(crate) fn position(&self, index: u32) -> u64 {
        let kept = if self.backwards { self.len - 1 - index } else { index };
        self.window.saturating_add(kept.into())
    }
}

/// A table of taps: for each output sample, consecutive source samples and their weights.
#[derive(Debug, Default)]
pub(crate) struct Taps {
    /// Where the taps of each output begin within the span.
    starts: Vec<u32>,
    counts: Vec<u32>,
    /// Rows of `stride` weights, zeros beyond the count of each.
    weights: Vec<i16>,
    /// What the weights lose of theirs, in the same order, where one table of 16 bits is not enough.
    low: Vec<i16>,
    stride: usize,
    /// The weights in the order in which vectors take them: see [`Self::pack`].
    packed: Vec<i16>,
    /// The same for two channels at a time, where there are four taps at most: those of an output twice in its lane.
    packed_pairs: Vec<i16>,
    /// The source samples that any output reads. Tap positions count from its start.
    span: Range<usize>,
    /// The most taps of an output.
    most: usize,
    work: Work,
}

/// Work space for one output.
#[derive(Debug, Default)]
struct Work {
    middle: Option<(u64, f64)>,
    row: Vec<f64>,
    halved: Vec<f64>,
}

impl Taps {
    /// Fills the table, reusing its memory. `halved` tells of a chroma plane of half the resolution.
    pub(crate) fn rebuild(
        &mut self,
        kernel: Kernel,
        axis: &Axis,
        halved: Option<ChromaSiting>,
        precision: Precision,
    ) {
        self.starts.clear();
        self.counts.clear();
        // The last one was of another axis.
        self.work.middle = None;
        let (mut first, mut end) = (usize::MAX, 0);
        self.most = 0;
        for index in 0..axis.len {
            let (start, row) = self.work.taps_of(kernel, axis, halved, index);
            first = first.min(start);
            end = end.max(start + row.len());
            self.most = self.most.max(row.len());
            self.starts.push(start as u32);
            self.counts.push(row.len() as u32);
        }
        self.span = first..end;
        self.stride = self.most.next_multiple_of(8);
        for table in [&mut self.weights, &mut self.low] {
            table.clear();
        }
        // Vectors of eight weights may begin anywhere in the last row.
        let len = self.stride * self.starts.len() + 8;
        self.weights.resize(len, 0);
        if precision == Precision::Pillow {
            self.low.resize(len, 0);
        }
        for (index, start) in self.starts.iter_mut().enumerate() {
            let (_, row) = self.work.taps_of(kernel, axis, halved, index as u32);
            let at = index * self.stride..index * self.stride + row.len();
            let low = self.low.get_mut(at.clone()).unwrap_or(&mut []);
            precision.quantise(row, &mut self.weights[at], low);
            *start -= first as u32;
        }
    }

    /// Puts the weights in the order in which vectors of `lanes` lanes take them. A block is `4 * lanes` outputs, of which
    /// vector `v` holds `v`, `v + 4` and so on, eight taps in each lane; the four vectors of the first eight taps come
    /// before those of the next. Where there are four taps at most, two vectors hold two outputs a lane: the first of
    /// four, then the last. The last block ends with the last output, so that it may hold some of the one before.
    pub(crate) fn pack(&mut self, lanes: usize) {
        self.packed.clear();
        self.packed_pairs.clear();
        let block = 4 * lanes;
        if lanes == 0 || self.len() < block {
            return;
        }
        for first in (0..self.len()).step_by(block) {
            let first = first.min(self.len() - block);
            if self.most <= 4 {
                for output in [0, 2].into_iter().flat_map(|half| (0..lanes).map(move |lane| 4 * lane + half))
                {
                    for at in [first + output, first + output + 1] {
                        self.packed.extend_from_slice(&self.weights[at * self.stride..][..4]);
                    }
                }
                for output in (0..4).flat_map(|vector| (0..lanes).map(move |lane| 4 * lane + vector)) {
                    let weights = &self.weights[(first + output) * self.stride..][..4];
                    self.packed_pairs.extend_from_slice(weights);
                    self.packed_pairs.extend_from_slice(weights);
                }
                continue;
            }
            for group in (0..self.stride).step_by(8) {
                for vector in 0..4 {
                    for lane in 0..lanes {
                        let at = (first + vector + 4 * lane) * self.stride + group;
                        self.packed.extend_from_slice(&self.weights[at..at + 8]);
                    }
                }
            }
        }
    }

    /// What [`Self::pack`] made.
    pub(crate) fn packed(&self) -> &[i16] {
        &self.packed
    }

    /// What [`Self::pack`] made for two channels at a time; empty if it made nothing for them.
    pub(crate) fn packed_pairs(&self) -> &[i16] {
        &self.packed_pairs
    }

    /// The source samples that any output reads.
    pub(crate) fn span(&self) -> Range<usize> {
        self.span.clone()
    }

    /// The most taps of an output.
    pub(crate) fn most(&self) -> usize {
        self.most
    }

    /// The number of outputs.
    pub(crate) fn len(&self) -> usize {
        self.starts.len()
    }

    /// Where the taps of each output begin within the span.
    pub(crate) fn starts(&self) -> &[u32] {
        &self.starts
    }

    /// Taps of output `index`: position of the first within the span, and the weights.
    pub(crate) fn get(&self, index: usize) -> (usize, &[i16]) {
        (self.starts[index] as usize, &self.padded(index)[..self.counts[index] as usize])
    }

    /// The weights of output `index`, padded with zeros to [`Self::stride`].
    pub(crate) fn padded(&self, index: usize) -> &[i16] {
        &self.weights[index * self.stride..][..self.stride]
    }

    /// The low parts of the weights of output `index`, padded alike.
    pub(crate) fn padded_low(&self, index: usize) -> &[i16] {
        &self.low[index * self.stride..][..self.stride]
    }

    /// The weights of all outputs, each padded with zeros to [`Self::stride`].
    pub(crate) fn weights(&self) -> &[i16] {
        &self.weights
    }

    /// The low parts of all weights, padded alike.
    pub(crate) fn low_weights(&self) -> &[i16] {
        &self.low
    }

    /// Weights of an output with their padding: a multiple of 8.
    pub(crate) fn stride(&self) -> usize {
        self.stride
    }
}

impl Work {
    /// First source sample and weights of output `index`.
    fn taps_of(
        &mut self,
        kernel: Kernel,
        axis: &Axis,
        halved: Option<ChromaSiting>,
        index: u32,
    ) -> (usize, &[f64]) {
        let mut start = kernel.taps(axis, axis.position(index), &mut self.middle, &mut self.row);
        if axis.mirrored {
            // The weights are those of the picture as it is seen, so that turning it first would give the same.
            self.row.reverse();
            start = axis.source_len as usize - start - self.row.len();
        }
        start += axis.origin as usize;
        let Some(siting) = halved else { return (start, &self.row) };
        if kernel == Kernel::Nearest {
            return (start / 2, &self.row);
        }
        let start = chroma::through_upsampling(siting, start, &self.row, axis.frame_len, &mut self.halved);
        (start, &self.halved)
    }
}
