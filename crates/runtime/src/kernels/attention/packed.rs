//! Dot products of many rows' queries with keys that were turned on their side for them, so that a vector holds an element
//! of several keys. The sums are those of [`super::scores`], in the same order.

use super::TILE;
use crate::kernels::lanes::{Lanes, PARTS};

/// Where the element `at` of a tile's keys begins: those of a partial sum follow each other.
#[inline(always)]
fn line(at: usize, dim: usize) -> usize {
    (at % PARTS * (dim / PARTS) + at / PARTS) * TILE
}

/// Turns the keys `[TILE, dim]` from vector `begin` to `end` on their side.
///
/// # Safety
/// As for [`Lanes`].
#[inline(always)]
pub(super) unsafe fn pack<L: Lanes>(
    keys: *const f32,
    begin: usize,
    end: usize,
    dim: usize,
    packed: *mut f32,
) {
    for vector in begin..end {
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

/// The products of `R` queries, `dim` apart, with the keys in `V` vectors from `first` on.
///
/// # Safety
/// As for [`Lanes`].
#[inline(always)]
pub(super) unsafe fn scores<L: Lanes, const R: usize, const V: usize>(
    queries: *const f32,
    packed: *const f32,
    first: usize,
    dim: usize,
    out: [*mut f32; R],
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
                L::store(out[row].add((first + vector) * L::LANES), totals[row][vector]);
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
