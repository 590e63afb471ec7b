//! What comes of the splits of the positions that threads share among them.

use super::softmax::{Running, merge};
use super::{Attention, SPLIT};
use crate::kernels::lanes::PADDING;
use std::ops::Range;

/// What came of the rows of a block in a split, in memory.
#[derive(Clone, Copy)]
pub(super) struct Partial {
    /// Floats that a row takes: its output, then its running softmax.
    pub(super) stride: usize,
    pub(super) first: *mut f32,
}

impl Partial {
    /// Floats that a row of `dim` elements takes.
    pub(super) fn stride(dim: usize) -> usize {
        dim.next_multiple_of(PADDING) + PADDING
    }

    /// # Safety
    /// The row is there, and nothing else uses it.
    pub(super) unsafe fn give(&self, row: usize, out: &[f32], running: Running) {
        debug_assert!(out.len() + 2 <= self.stride);
        // SAFETY: the caller's promise; a row has room for two more.
        unsafe {
            let to = self.first.add(row * self.stride);
            to.copy_from_nonoverlapping(out.as_ptr(), out.len());
            to.add(out.len()).cast::<[f32; 2]>().write([running.largest, running.sum]);
        }
    }

    #[allow(clippy::mut_from_ref)]
    unsafe fn out(&self, row: usize) -> &mut [f32] {
        // SAFETY: the caller's promise: it was given, and nothing else uses it.
        unsafe { std::slice::from_raw_parts_mut(self.first.add(row * self.stride), self.stride - PADDING) }
    }

    unsafe fn running(&self, row: usize) -> Running {
        // SAFETY: the caller's promise: it was given.
        let [largest, sum] =
            unsafe { self.first.add((row + 1) * self.stride - PADDING).cast::<[f32; 2]>().read() };
        Running { largest, sum }
    }
}

/// Merges what came of the splits, those of a key head one after the other, in the order of their positions, and writes the
/// outputs.
///
/// # Safety
/// All partials were given, one a split, row and key head; nothing else uses the outputs.
pub(super) unsafe fn merge_splits(call: &Attention<'_>, partial: Partial, splits: Range<usize>) {
    let group = call.shape.group();
    let rows = call.shape.rows * group;
    for key_head in 0..call.shape.key_heads {
        for row in 0..rows {
            let visible = call.positions.visible(row / group);
            let seen = visible.start / SPLIT..visible.end.div_ceil(SPLIT);
            let at = |split: usize| (key_head * splits.len() + split - splits.start) * rows + row;
            // SAFETY: the caller's promise.
            unsafe {
                let total = partial.out(at(seen.start));
                let mut running = partial.running(at(seen.start));
                for split in seen.start + 1..seen.end {
                    let later = partial.running(at(split));
                    merge(call.set, &mut running, total, later, partial.out(at(split)));
                }
                call.write(key_head, row, total, running.sum);
            }
        }
    }
}
