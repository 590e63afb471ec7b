//! The queries of a call, as the block of rows that attends takes them.

use crate::kernels::lanes::Lanes;
use crate::kernels::rotary_attention::rotate::Rotation;

/// Where queries come from.
#[derive(Clone, Copy)]
pub(in crate::kernels) enum Queries<'a> {
    /// `[S, H, D]`, as they are.
    Ready(&'a [f32]),
    /// The first ones in rows of queries, keys and values, to be normalised and rotated.
    ToRotate(Rotation<'a>),
}

impl Queries<'_> {
    /// Writes a query to the first `dim` floats of `to`, and 0 to the rest of it.
    ///
    /// # Safety
    /// The processor has the instruction set.
    #[inline(always)]
    pub(super) unsafe fn load<L: Lanes>(
        &self,
        row: usize,
        heads: usize,
        head: usize,
        to: &mut [f32],
        dim: usize,
    ) {
        match self {
            Self::Ready(all) => {
                let at = (row * heads + head) * dim;
                to[..dim].copy_from_slice(&all[at..at + dim]);
                to[dim..].fill(0.0);
            }
            // SAFETY: the caller's promise.
            Self::ToRotate(rotation) => unsafe { rotation.apply::<L>(row, head, to) },
        }
    }
}
