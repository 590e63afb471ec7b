//! Queries and keys: normalised by head, where the model does that, and rotated by their position.

use crate::kernels::lanes::Lanes;
use crate::kernels::rms_norm::norm::{normalise, root_mean_square};

/// The heads in rows of queries, keys and values, and what is done to them.
#[derive(Clone, Copy)]
pub(in crate::kernels) struct Rotation<'a> {
    /// `[S, row_length]`
    pub(super) rows: &'a [f32],
    pub(super) row_length: usize,
    /// D, an even number.
    pub(super) dim: usize,
    /// `[D]`
    pub(super) norm: Option<&'a [f32]>,
    pub(super) eps: f32,
    /// `[S, D]`: cosines, then sines.
    pub(super) table: &'a [f32],
}

impl Rotation<'_> {
    /// The head's elements as they are.
    #[inline(always)]
    pub(super) fn head(&self, row: usize, head: usize) -> &[f32] {
        let at = row * self.row_length + head * self.dim;
        &self.rows[at..at + self.dim]
    }

    /// Writes the head to the first elements of `to`, and 0 to the rest of it.
    ///
    /// # Safety
    /// The processor has the instruction set.
    #[inline(always)]
    pub(in crate::kernels) unsafe fn apply<L: Lanes>(&self, row: usize, head: usize, to: &mut [f32]) {
        let (to, padding) = to.split_at_mut(self.dim);
        padding.fill(0.0);
        let from = self.head(row, head);
        // SAFETY: the caller's promise.
        unsafe {
            match self.norm {
                Some(weight) => normalise::<L>(from, root_mean_square::<L>(from, self.eps), weight, to),
                None => to.copy_from_slice(from),
            }
            rotate::<L>(to, &self.table[row * self.dim..(row + 1) * self.dim]);
        }
    }
}

/// Rotates pairs of elements half a head apart.
#[inline(always)]
unsafe fn rotate<L: Lanes>(head: &mut [f32], table: &[f32]) {
    let half = head.len() / 2;
    let (low, high) = head.split_at_mut(half);
    let (cosines, sines) = table.split_at(half);
    assert!(low.len() == half && high.len() == half && cosines.len() == half && sines.len() == half);
    let whole = half / L::LANES * L::LANES;
    for at in (0..whole).step_by(L::LANES) {
        // SAFETY: the caller's promise; there are as many.
        unsafe {
            let (x, y) = (L::load(low.as_ptr().add(at)), L::load(high.as_ptr().add(at)));
            let (cosine, sine) = (L::load(cosines.as_ptr().add(at)), L::load(sines.as_ptr().add(at)));
            L::store(low.as_mut_ptr().add(at), L::sub(L::mul(x, cosine), L::mul(y, sine)));
            L::store(high.as_mut_ptr().add(at), L::add(L::mul(y, cosine), L::mul(x, sine)));
        }
    }
    for at in whole..half {
        let (x, y) = (low[at], high[at]);
        low[at] = x * cosines[at] - y * sines[at];
        high[at] = y * cosines[at] + x * sines[at];
    }
}
