//! Sums of values by weight.

#![allow(clippy::needless_range_loop, reason = "several arrays, of registers, are gone through at once")]

use super::cache::Kind;
use super::element::{Element, F16, F32, I8};
use super::{SCORES, TOGETHER};
use crate::kernels::lanes::{Lanes, dispatch};
use std::ops::Range;

dispatch! {
    /// Adds the values of the slots `seen`, of which slot 0's are at `values`, or would be, each times its weight, to the
    /// output of each of `rows` rows, from 1 to [`super::TOGETHER`]: slot by slot. Weights are [`SCORES`] a row, outputs
    /// `dim`.
    ///
    /// # Safety
    /// As for [`Lanes`]; the values are of the kind.
    pub(super) unsafe fn mix(
        kind: Kind,
        rows: usize,
        weights: *const f32,
        values: *const u8,
        seen: Range<usize>,
        dim: usize,
        out: *mut f32,
    ) = with_set
}

#[inline(always)]
unsafe fn with_set<L: Lanes>(
    kind: Kind,
    rows: usize,
    weights: *const f32,
    values: *const u8,
    seen: Range<usize>,
    dim: usize,
    out: *mut f32,
) {
    // SAFETY: the caller's promise.
    unsafe {
        match kind {
            Kind::F32 => with_element::<L, F32>(rows, weights, values.cast(), seen, dim, out),
            Kind::F16 => with_element::<L, F16>(rows, weights, values.cast(), seen, dim, out),
            Kind::I8 => with_element::<L, I8>(rows, weights, values.cast(), seen, dim, out),
        }
    }
}

#[inline(always)]
unsafe fn with_element<L: Lanes, E: Element>(
    rows: usize,
    weights: *const f32,
    values: *const E::Stored,
    seen: Range<usize>,
    dim: usize,
    out: *mut f32,
) {
    // SAFETY: the caller's promise.
    unsafe {
        match rows {
            4 => with_rows::<L, E, 4>(weights, values, seen, dim, out),
            3 => with_rows::<L, E, 3>(weights, values, seen, dim, out),
            2 => with_rows::<L, E, 2>(weights, values, seen, dim, out),
            _ => with_rows::<L, E, 1>(weights, values, seen, dim, out),
        }
    }
}

#[inline(always)]
unsafe fn with_rows<L: Lanes, E: Element, const R: usize>(
    weights: *const f32,
    values: *const E::Stored,
    seen: Range<usize>,
    dim: usize,
    out: *mut f32,
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
    weights: *const f32,
    values: *const E::Stored,
    seen: Range<usize>,
    dim: usize,
    out: *mut f32,
    at: usize,
) {
    // SAFETY: the caller's promise.
    unsafe {
        let mut sums = [[L::splat(0.0); V]; R];
        for row in 0..R {
            for vector in 0..V {
                sums[row][vector] = L::load(out.add(row * dim + at + vector * L::LANES));
            }
        }
        for slot in seen {
            let line = values.wrapping_add(slot * dim + at);
            let mut elements = [L::splat(0.0); V];
            for vector in 0..V {
                elements[vector] = E::load::<L>(line.add(vector * L::LANES));
            }
            for row in 0..R {
                let weight = L::splat(*weights.add(row * SCORES + slot));
                for vector in 0..V {
                    sums[row][vector] = L::fma(weight, elements[vector], sums[row][vector]);
                }
            }
        }
        for row in 0..R {
            for vector in 0..V {
                L::store(out.add(row * dim + at + vector * L::LANES), sums[row][vector]);
            }
        }
    }
}

dispatch! {
    /// Adds `count` values of whole numbers, one after the other, to the output of each of `rows` rows, from 1 to
    /// [`TOGETHER`]: times their weights and the row's step, of [`super::softmax::weigh`]. `weights` is [`SCORES`] a row,
    /// and begins with the first value's.
    ///
    /// # Safety
    /// As for [`Lanes`].
    pub(super) unsafe fn mix_whole(
        rows: usize,
        weights: *const i16,
        steps: [f32; TOGETHER],
        values: *const i8,
        count: usize,
        dim: usize,
        out: *mut f32,
    ) = whole_with_set
}

#[inline(always)]
unsafe fn whole_with_set<L: Lanes>(
    rows: usize,
    weights: *const i16,
    steps: [f32; TOGETHER],
    values: *const i8,
    count: usize,
    dim: usize,
    out: *mut f32,
) {
    // SAFETY: the caller's promise.
    unsafe {
        match rows {
            4 => whole_rows::<L, 4>(weights, steps, values, count, dim, out),
            3 => whole_rows::<L, 3>(weights, steps, values, count, dim, out),
            2 => whole_rows::<L, 2>(weights, steps, values, count, dim, out),
            _ => whole_rows::<L, 1>(weights, steps, values, count, dim, out),
        }
    }
}

#[inline(always)]
unsafe fn whole_rows<L: Lanes, const R: usize>(
    weights: *const i16,
    steps: [f32; TOGETHER],
    values: *const i8,
    count: usize,
    dim: usize,
    out: *mut f32,
) {
    let (mut lines, mut their_steps) = ([weights; R], [0.0; R]);
    for row in 0..R {
        lines[row] = weights.wrapping_add(2 * row * SCORES);
        their_steps[row] = steps[row];
    }
    // SAFETY: the caller's promise.
    unsafe { L::mix_i8::<R>(lines, their_steps, values, count, dim, out) };
}
