//! Sums of values by weight.

use super::element::Element;
use crate::kernels::lanes::Lanes;
use std::ops::Range;

/// Adds the values of the slots `seen`, of which slot 0's are at `values`, or would be, each times its weight, to the output of each of
/// `R` rows: slot by slot.
///
/// # Safety
/// As for [`Lanes`].
#[inline(always)]
pub(super) unsafe fn mix<L: Lanes, E: Element, const R: usize>(
    weights: [*const f32; R],
    values: *const E::Stored,
    seen: Range<usize>,
    dim: usize,
    out: [*mut f32; R],
) {
    // SAFETY: the caller's promise.
    unsafe {
        let mut at = 0;
        if L::COLUMNS == 4 {
            while at + 4 * L::LANES <= dim {
                columns::<L, E, R, 4>(weights, values, seen.clone(), dim, out, at);
                at += 4 * L::LANES;
            }
        }
        while at + 2 * L::LANES <= dim {
            columns::<L, E, R, 2>(weights, values, seen.clone(), dim, out, at);
            at += 2 * L::LANES;
        }
        if at < dim {
            columns::<L, E, R, 1>(weights, values, seen, dim, out, at);
        }
    }
}

/// `V` vectors of columns, from column `at` on.
#[inline(always)]
unsafe fn columns<L: Lanes, E: Element, const R: usize, const V: usize>(
    weights: [*const f32; R],
    values: *const E::Stored,
    seen: Range<usize>,
    dim: usize,
    out: [*mut f32; R],
    at: usize,
) {
    // SAFETY: the caller's promise.
    unsafe {
        let mut sums = [[L::splat(0.0); V]; R];
        for row in 0..R {
            for vector in 0..V {
                sums[row][vector] = L::load(out[row].add(at + vector * L::LANES));
            }
        }
        for slot in seen {
            let line = values.wrapping_add(slot * dim + at);
            let mut elements = [L::splat(0.0); V];
            for vector in 0..V {
                elements[vector] = E::load::<L>(line.add(vector * L::LANES));
            }
            for row in 0..R {
                let weight = L::splat(*weights[row].add(slot));
                for vector in 0..V {
                    sums[row][vector] = L::fma(weight, elements[vector], sums[row][vector]);
                }
            }
        }
        for row in 0..R {
            for vector in 0..V {
                L::store(out[row].add(at + vector * L::LANES), sums[row][vector]);
            }
        }
    }
}
