//! The softmax as scores come by (Milakov and Gimelshein, 2018, arXiv:1805.02867): a running maximum, and a sum and an
//! output that are scaled down when it grows. So nothing is stored for a row but these, however long the cache is.

#![allow(clippy::needless_range_loop, reason = "several arrays, of registers, are gone through at once")]

use super::{SCORES, TILE, TOGETHER};
use crate::kernels::lanes::{Lanes, dispatch};
use std::ops::Range;

/// What is kept of a row beside its output.
#[derive(Debug, Clone, Copy)]
pub(super) struct Running {
    /// The largest score so far.
    pub(super) largest: f32,
    /// The sum of the weights so far, against the largest score.
    pub(super) sum: f32,
}

impl Running {
    pub(super) const NOTHING: Self = Self { largest: f32::NEG_INFINITY, sum: 0.0 };
}

/// The scales of a tile's keys and values.
#[derive(Clone, Copy)]
pub(super) struct Scales {
    pub(super) keys: *const f32,
    pub(super) values: *const f32,
}

/// What is weighed of a row.
pub(super) struct Weighed<'a> {
    /// Its products with a tile's keys, `[SCORES]`.
    pub(super) products: *mut f32,
    /// The keys that it sees of them, one at least.
    pub(super) seen: Range<usize>,
    /// By which the products are multiplied.
    pub(super) scale: f32,
    pub(super) running: &'a mut Running,
    /// By which weights are to be multiplied that are whole numbers.
    pub(super) step: &'a mut f32,
    /// Its output so far.
    pub(super) out: &'a mut [f32],
}

dispatch! {
    /// Makes weights of the products of some rows. `scales` are for the whole tile; then weights are whole numbers for some
    /// instruction sets.
    ///
    /// # Safety
    /// As for [`Lanes`].
    pub(super) unsafe fn weigh(rows: &mut [Option<Weighed<'_>>; TOGETHER], scales: Option<Scales>) = weigh_with
}

/// Goes through the rows in each step, so that none waits for the end of another's.
#[inline(always)]
unsafe fn weigh_with<L: Lanes>(rows: &mut [Option<Weighed<'_>>; TOGETHER], scales: Option<Scales>) {
    let mut largest = [0.0; TOGETHER];
    let (mut sums, mut heaviest) = ([0.0; TOGETHER], [0.0; TOGETHER]);
    // SAFETY: the caller's promise.
    unsafe {
        for (row, largest) in rows.iter().zip(&mut largest) {
            if let Some(row) = row {
                *largest = score::<L>(row, scales);
            }
        }
        for at in 0..TOGETHER {
            if let Some(row) = &rows[at] {
                (sums[at], heaviest[at]) = exponentiate::<L>(row, scales, largest[at]);
            }
        }
        for at in 0..TOGETHER {
            let Some(row) = &mut rows[at] else { continue };
            if scales.is_some() && L::WHOLE_WEIGHTS {
                *row.step = round::<L>(row.products, vectors::<L>(&row.seen), heaviest[at]);
            }
            if row.running.largest == largest[at] {
                row.running.sum += sums[at];
                continue;
            }
            let shrink = exp::<L>(row.running.largest - largest[at]);
            *row.running = Running { largest: largest[at], sum: row.running.sum * shrink + sums[at] };
            for at in (0..row.out.len()).step_by(L::LANES) {
                let out = row.out.as_mut_ptr().add(at);
                L::store(out, L::mul(L::load(out), L::splat(shrink)));
            }
        }
    }
}

/// Whole vectors with all that is seen.
#[inline(always)]
fn vectors<L: Lanes>(seen: &Range<usize>) -> Range<usize> {
    seen.start / L::LANES * L::LANES..seen.end.next_multiple_of(L::LANES)
}

/// Scales the products, with none where nothing is seen, and gives the largest so far.
#[inline(always)]
unsafe fn score<L: Lanes>(row: &Weighed<'_>, scales: Option<Scales>) -> f32 {
    let (products, seen, vectors) = (row.products, &row.seen, vectors::<L>(&row.seen));
    debug_assert!(seen.start < seen.end && vectors.end <= SCORES);
    // SAFETY: the caller's promise.
    unsafe {
        let scale = L::splat(row.scale);
        let mut largest = L::splat(row.running.largest);
        for at in vectors.clone().step_by(L::LANES) {
            let mut score = L::mul(L::load(products.add(at)), scale);
            if let Some(scales) = scales {
                score = L::mul(score, L::load(scales.keys.add(at)));
            }
            largest = L::max(score, largest);
            L::store(products.add(at), score);
        }
        if vectors == *seen {
            return L::largest(largest);
        }
        // Again, as there are some among them that are not seen.
        for unseen in (vectors.start..seen.start).chain(seen.end..vectors.end) {
            *products.add(unseen) = f32::NEG_INFINITY;
        }
        let mut largest = L::splat(row.running.largest);
        for at in vectors.step_by(L::LANES) {
            largest = L::max(L::load(products.add(at)), largest);
        }
        L::largest(largest)
    }
}

/// Makes weights of the scores, and gives their sum and, once multiplied by the values' scales, the largest.
#[inline(always)]
unsafe fn exponentiate<L: Lanes>(row: &Weighed<'_>, scales: Option<Scales>, largest: f32) -> (f32, f32) {
    let products = row.products;
    // SAFETY: the caller's promise.
    unsafe {
        let (mut sum, mut heaviest) = (L::splat(0.0), L::splat(0.0));
        for at in vectors::<L>(&row.seen).step_by(L::LANES) {
            let mut weight = L::exp_of_negative(L::sub(L::load(products.add(at)), L::splat(largest)));
            sum = L::add(sum, weight);
            if let Some(scales) = scales {
                let scaled = L::mul(weight, L::load(scales.values.add(at)));
                // Where nothing is seen the scale may be no number.
                weight = L::if_below(weight, f32::MIN_POSITIVE, L::splat(0.0), scaled);
                heaviest = L::max(weight, heaviest);
            }
            L::store(products.add(at), weight);
        }
        (L::sum(sum), L::largest(heaviest))
    }
}

/// Rounds the weights to whole numbers of 15 bits, behind them, and gives by what to multiply these.
#[inline(always)]
unsafe fn round<L: Lanes>(weights: *mut f32, seen: Range<usize>, heaviest: f32) -> f32 {
    const MOST: f32 = i16::MAX as f32;
    // SAFETY: the caller's promise.
    unsafe {
        let whole = weights.add(TILE).cast::<i16>();
        whole.write_bytes(0, TILE + 2);
        let factor = L::splat(if heaviest > 0.0 { MOST / heaviest } else { 0.0 });
        for at in seen.step_by(L::LANES) {
            L::store_i16(whole.add(at), L::mul(L::load(weights.add(at)), factor));
        }
    }
    heaviest / MOST
}

dispatch! {
    /// Takes the output of later positions in: `out` and `running` become those of both.
    ///
    /// # Safety
    /// As for [`Lanes`]; both outputs are whole vectors.
    pub(super) unsafe fn merge(
        running: &mut Running, out: &mut [f32], later: Running, later_out: &[f32]
    ) = merge_with
}

#[inline(always)]
unsafe fn merge_with<L: Lanes>(running: &mut Running, out: &mut [f32], later: Running, later_out: &[f32]) {
    assert!(out.len() == later_out.len());
    // SAFETY: the caller's promise.
    unsafe {
        // Where one is no number, that of `later` counts: its weights are none either.
        let largest = if running.largest > later.largest { running.largest } else { later.largest };
        let (one, other) = (exp::<L>(running.largest - largest), exp::<L>(later.largest - largest));
        *running = Running { largest, sum: running.sum * one + later.sum * other };
        for at in (0..out.len()).step_by(L::LANES) {
            let (out, later_out) = (out.as_mut_ptr().add(at), later_out.as_ptr().add(at));
            let kept = L::mul(L::load(out), L::splat(one));
            L::store(out, L::fma(L::load(later_out), L::splat(other), kept));
        }
    }
}

dispatch! {
    /// Divides the sums of values, which may be padded, by that of the weights.
    ///
    /// # Safety
    /// As for [`Lanes`].
    pub(super) unsafe fn share(values: &[f32], sum: f32, out: &mut [f32]) = share_with
}

#[inline(always)]
unsafe fn share_with<L: Lanes>(values: &[f32], sum: f32, out: &mut [f32]) {
    assert!(values.len() >= out.len());
    let (share, whole) = (1.0 / sum, out.len() / L::LANES * L::LANES);
    for at in (0..whole).step_by(L::LANES) {
        // SAFETY: the caller's promise; there are as many.
        unsafe {
            L::store(out.as_mut_ptr().add(at), L::mul(L::load(values.as_ptr().add(at)), L::splat(share)))
        };
    }
    for at in whole..out.len() {
        out[at] = values[at] * share;
    }
}

#[inline(always)]
unsafe fn exp<L: Lanes>(x: f32) -> f32 {
    let mut lanes = [0.0; crate::kernels::lanes::PADDING];
    // SAFETY: the caller's promise; a vector has fewer lanes.
    unsafe { L::store(lanes.as_mut_ptr(), L::exp_of_negative(L::splat(x))) };
    lanes[0]
}
