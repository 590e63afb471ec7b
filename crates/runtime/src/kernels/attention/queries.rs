//! The queries of a call, as the block of rows that attends takes them.

use super::Shape;
use super::cache::bytes;
use crate::kernels::lanes::{Lanes, dispatch};
use crate::kernels::rotary_attention::rotate::Rotation;

/// Where queries come from.
#[derive(Clone, Copy)]
pub(in crate::kernels) enum Queries<'a> {
    /// `[S, H, D]`, as they are.
    Ready(&'a [f32]),
    /// The first ones in rows of queries, keys and values, to be normalised and rotated.
    ToRotate(Rotation<'a>),
}

dispatch! {
    /// Writes a query of `dim` elements to `to`, with zeros behind it.
    ///
    /// # Safety
    /// As for [`Lanes`].
    pub(super) unsafe fn load(queries: &Queries<'_>, row: usize, shape: &Shape, head: usize, to: &mut [f32]) = load_with
}

#[inline(always)]
unsafe fn load_with<L: Lanes>(queries: &Queries<'_>, row: usize, shape: &Shape, head: usize, to: &mut [f32]) {
    match queries {
        Queries::Ready(all) => {
            let at = (row * shape.heads + head) * shape.dim;
            to[..shape.dim].copy_from_slice(&all[at..at + shape.dim]);
            to[shape.dim..].fill(0.0);
        }
        // SAFETY: the caller's promise.
        Queries::ToRotate(rotation) => unsafe { rotation.apply::<L>(row, head, to) },
    }
}

dispatch! {
    /// Writes a padded query as whole numbers from -127 to 127 to `to`, and what they are to be multiplied by.
    ///
    /// # Safety
    /// As for [`Lanes`]; there is room.
    pub(super) unsafe fn round(query: &[f32], to: *mut i8, scale: &mut f32) = round_with
}

#[inline(always)]
unsafe fn round_with<L: Lanes>(query: &[f32], to: *mut i8, scale: &mut f32) {
    // SAFETY: the caller's promise.
    *scale = unsafe { bytes::<L>(query, to, query.len()) };
}
