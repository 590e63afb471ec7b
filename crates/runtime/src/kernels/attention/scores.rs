//! Dot products of a few rows' queries with keys as they lie in the cache.

#![allow(clippy::needless_range_loop, reason = "several arrays, of registers, are gone through at once")]

use super::SCORES;
use super::cache::Kind;
use super::element::{Element, F16, F32};
use crate::kernels::lanes::{Lanes, PARTS, dispatch};

/// Queries, one after the other.
#[derive(Clone, Copy)]
pub(super) struct Rows {
    /// From 1 to [`super::TOGETHER`].
    pub(super) count: usize,
    pub(super) floats: *const f32,
    /// The same as whole numbers, for keys that are.
    pub(super) bytes: *const i8,
}

dispatch! {
    /// The products of the rows with `count` keys, one after the other, all of `dim` elements. `out` is [`SCORES`] a row, and
    /// may be written up to the next multiple of 16.
    ///
    /// # Safety
    /// As for [`Lanes`]; the keys are of the kind.
    pub(super) unsafe fn products(
        kind: Kind, rows: Rows, keys: *const u8, count: usize, dim: usize, out: *mut f32
    ) = with_set
}

#[inline(always)]
unsafe fn with_set<L: Lanes>(
    kind: Kind,
    rows: Rows,
    keys: *const u8,
    count: usize,
    dim: usize,
    out: *mut f32,
) {
    // SAFETY: the caller's promise.
    unsafe {
        match kind {
            Kind::F32 => floats::<L, F32>(rows, keys.cast(), count, dim, out),
            Kind::F16 => floats::<L, F16>(rows, keys.cast(), count, dim, out),
            Kind::I8 => match rows.count {
                4 => bytes::<L, 4>(rows, keys.cast(), count, dim, out),
                3 => bytes::<L, 3>(rows, keys.cast(), count, dim, out),
                2 => bytes::<L, 2>(rows, keys.cast(), count, dim, out),
                _ => bytes::<L, 1>(rows, keys.cast(), count, dim, out),
            },
        }
    }
}

#[inline(always)]
unsafe fn bytes<L: Lanes, const R: usize>(
    rows: Rows,
    keys: *const i8,
    count: usize,
    dim: usize,
    out: *mut f32,
) {
    let mut lines = [rows.bytes; R];
    let mut outs = [out; R];
    for row in 0..R {
        lines[row] = rows.bytes.wrapping_add(row * dim);
        outs[row] = out.wrapping_add(row * SCORES);
    }
    // SAFETY: the caller's promise.
    unsafe { L::dots_i8::<R>(lines, keys, count, dim, outs) };
}

#[inline(always)]
unsafe fn floats<L: Lanes, E: Element>(
    rows: Rows,
    keys: *const E::Stored,
    count: usize,
    dim: usize,
    out: *mut f32,
) {
    let mut row = 0;
    while row < rows.count {
        let (queries, out) = (rows.floats.wrapping_add(row * dim), out.wrapping_add(row * SCORES));
        // SAFETY: the caller's promise.
        row += unsafe {
            match L::ROWS.min(rows.count - row) {
                4 => block::<L, E, 4>(queries, keys, count, dim, out),
                3 => block::<L, E, 3>(queries, keys, count, dim, out),
                2 => block::<L, E, 2>(queries, keys, count, dim, out),
                _ => block::<L, E, 1>(queries, keys, count, dim, out),
            }
        };
    }
}

/// Of `R` rows, and says so.
#[inline(always)]
unsafe fn block<L: Lanes, E: Element, const R: usize>(
    queries: *const f32,
    keys: *const E::Stored,
    count: usize,
    dim: usize,
    out: *mut f32,
) -> usize {
    // SAFETY: the caller's promise; no key past the last one is read.
    unsafe {
        for key in (0..count).step_by(4) {
            let mut four = [keys; 4];
            for (at, pointer) in four.iter_mut().enumerate() {
                *pointer = keys.add((key + at).min(count - 1) * dim);
            }
            let mut sums = [[L::parts_zero(); 4]; R];
            for part in (0..dim).step_by(PARTS) {
                let mut lines = [L::parts_zero(); R];
                for row in 0..R {
                    lines[row] = L::parts_load(queries.add(row * dim + part));
                }
                for at in 0..4 {
                    let elements = E::parts::<L>(four[at].add(part));
                    for row in 0..R {
                        sums[row][at] = L::parts_fma(lines[row], elements, sums[row][at]);
                    }
                }
            }
            for row in 0..R {
                out.add(row * SCORES + key).cast::<[f32; 4]>().write(L::parts_sum(sums[row]));
            }
        }
    }
    R
}
