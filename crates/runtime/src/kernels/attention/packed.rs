//! Dot products of many rows' queries with keys that were turned on their side for them, so that a vector holds an element
//! of several keys. The sums are those of [`super::scores`], in the same order.

#![allow(clippy::needless_range_loop, reason = "several arrays, of registers, are gone through at once")]

use super::{SCORES, TILE};
use crate::kernels::lanes::{Lanes, PARTS, dispatch};
use std::ops::Range;

/// Where the element `at` of a tile's keys begins: those of a partial sum follow each other.
#[inline(always)]
fn line(at: usize, dim: usize) -> usize {
    (at % PARTS * (dim / PARTS) + at / PARTS) * TILE
}

dispatch! {
    /// Turns the keys `[TILE, dim]` that are seen on their side, in whole vectors.
    ///
    /// # Safety
    /// As for [`Lanes`].
    pub(super) unsafe fn pack(keys: *const f32, seen: Range<usize>, dim: usize, packed: *mut f32) = pack_with
}

#[inline(always)]
unsafe fn pack_with<L: Lanes>(keys: *const f32, seen: Range<usize>, dim: usize, packed: *mut f32) {
    for vector in seen.start / L::LANES..seen.end.div_ceil(L::LANES) {
        let first = vector * L::LANES;
        for at in (0..dim).step_by(L::LANES) {
            // SAFETY: the caller's promise.
            unsafe {
                L::transpose(keys.add(first * dim + at), dim, |column| {
                    packed.add(line(at + column, dim) + first)
                });
            }
        }
    }
}

dispatch! {
    /// The products of `count` queries, `dim` apart, with the packed keys that are seen, and those of the same vectors. `out`
    /// is [`SCORES`] a row.
    ///
    /// # Safety
    /// As for [`Lanes`].
    pub(super) unsafe fn products(
        queries: *const f32, count: usize, packed: *const f32, seen: Range<usize>, dim: usize, out: *mut f32
    ) = products_with
}

#[inline(always)]
unsafe fn products_with<L: Lanes>(
    queries: *const f32,
    count: usize,
    packed: *const f32,
    seen: Range<usize>,
    dim: usize,
    out: *mut f32,
) {
    let vectors = seen.start / L::LANES..seen.end.div_ceil(L::LANES);
    let mut row = 0;
    while row < count {
        let (queries, out) = (queries.wrapping_add(row * dim), out.wrapping_add(row * SCORES));
        // SAFETY: the caller's promise.
        row += unsafe {
            match L::PACKED {
                [4, 2] if row + 4 <= count => rows::<L, 4, 2>(queries, packed, vectors.clone(), dim, out),
                [2, 2] if row + 2 <= count => rows::<L, 2, 2>(queries, packed, vectors.clone(), dim, out),
                [2, 1] if row + 2 <= count => rows::<L, 2, 1>(queries, packed, vectors.clone(), dim, out),
                _ => rows::<L, 1, 1>(queries, packed, vectors.clone(), dim, out),
            }
        };
    }
}

/// Of `R` rows, and says so.
#[inline(always)]
unsafe fn rows<L: Lanes, const R: usize, const V: usize>(
    queries: *const f32,
    packed: *const f32,
    vectors: Range<usize>,
    dim: usize,
    out: *mut f32,
) -> usize {
    let mut vector = vectors.start;
    // SAFETY: the caller's promise.
    unsafe {
        while vector + V <= vectors.end {
            block::<L, R, V>(queries, packed, vector, dim, out);
            vector += V;
        }
        while vector < vectors.end {
            block::<L, R, 1>(queries, packed, vector, dim, out);
            vector += 1;
        }
    }
    R
}

/// With the keys in `V` vectors from `first` on.
#[inline(always)]
unsafe fn block<L: Lanes, const R: usize, const V: usize>(
    queries: *const f32,
    packed: *const f32,
    first: usize,
    dim: usize,
    out: *mut f32,
) {
    // SAFETY: the caller's promise.
    unsafe {
        let packed = packed.add(first * L::LANES);
        let mut totals = [[L::splat(0.0); V]; R];
        for part in 0..PARTS / 2 {
            let low = partial::<L, R, V>(queries, packed, part, dim);
            let high = partial::<L, R, V>(queries, packed, part + PARTS / 2, dim);
            for row in 0..R {
                for vector in 0..V {
                    let both = L::add(low[row][vector], high[row][vector]);
                    totals[row][vector] = if part == 0 { both } else { L::add(totals[row][vector], both) };
                }
            }
        }
        for row in 0..R {
            for vector in 0..V {
                L::store(out.add(row * SCORES + (first + vector) * L::LANES), totals[row][vector]);
            }
        }
    }
}

#[inline(always)]
unsafe fn partial<L: Lanes, const R: usize, const V: usize>(
    queries: *const f32,
    packed: *const f32,
    part: usize,
    dim: usize,
) -> [[L::F; V]; R] {
    // SAFETY: the caller's promise.
    unsafe {
        let mut sums = [[L::splat(0.0); V]; R];
        let packed = packed.add(line(part, dim));
        for step in 0..dim / PARTS {
            let mut keys = [L::splat(0.0); V];
            for vector in 0..V {
                keys[vector] = L::load(packed.add(step * TILE + vector * L::LANES));
            }
            for row in 0..R {
                let query = L::splat(*queries.add(row * dim + step * PARTS + part));
                for vector in 0..V {
                    sums[row][vector] = L::fma(query, keys[vector], sums[row][vector]);
                }
            }
        }
        sums
    }
}
