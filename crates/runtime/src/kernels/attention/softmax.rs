//! The softmax as scores come by (Milakov and Gimelshein, 2018, arXiv:1805.02867): a running maximum, and a sum and an
//! output that are scaled down when it grows. So nothing is stored for a row but these, however long the cache is.

use super::{SCORES, TILE};
use crate::kernels::lanes::{Lanes, dispatch, exp_of_negative};
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

dispatch! {
    /// Makes weights of the products `[SCORES]` of a tile's keys: of the seen ones, which are one at least. `scales` are
    /// for the whole tile; then weights are whole numbers for some instruction sets, which are to be multiplied by `step`.
    ///
    /// # Safety
    /// As for [`Lanes`].
    pub(super) unsafe fn weigh(
        products: *mut f32,
        seen: Range<usize>,
        scale: f32,
        scales: Option<Scales>,
        running: &mut Running,
        step: &mut f32,
        out: &mut [f32],
    ) = weigh_with
}

#[inline(always)]
unsafe fn weigh_with<L: Lanes>(
    products: *mut f32,
    seen: Range<usize>,
    scale: f32,
    scales: Option<Scales>,
    running: &mut Running,
    step: &mut f32,
    out: &mut [f32],
) {
    let vectors = seen.start / L::LANES * L::LANES..seen.end.next_multiple_of(L::LANES);
    debug_assert!(!seen.is_empty() && vectors.end <= SCORES);
    // SAFETY: the caller's promise.
    unsafe {
        let scale = L::splat(scale);
        for at in vectors.clone().step_by(L::LANES) {
            let mut score = L::mul(L::load(products.add(at)), scale);
            if let Some(scales) = scales {
                score = L::mul(score, L::load(scales.keys.add(at)));
            }
            L::store(products.add(at), score);
        }
        for unseen in (vectors.start..seen.start).chain(seen.end..vectors.end) {
            *products.add(unseen) = f32::NEG_INFINITY;
        }
        let mut largest = L::splat(running.largest);
        for at in vectors.clone().step_by(L::LANES) {
            largest = L::max(L::load(products.add(at)), largest);
        }
        let largest = L::largest(largest);
        let (mut sum, mut heaviest) = (L::splat(0.0), L::splat(0.0));
        for at in vectors.clone().step_by(L::LANES) {
            let mut weight = exp_of_negative::<L>(L::sub(L::load(products.add(at)), L::splat(largest)));
            sum = L::add(sum, weight);
            if let Some(scales) = scales {
                let scaled = L::mul(weight, L::load(scales.values.add(at)));
                // Where nothing is seen the scale may be no number.
                weight = L::if_below(weight, f32::MIN_POSITIVE, L::splat(0.0), scaled);
                heaviest = L::max(weight, heaviest);
            }
            L::store(products.add(at), weight);
        }
        if scales.is_some() && L::WHOLE_WEIGHTS {
            *step = round::<L>(products, vectors, L::largest(heaviest));
        }
        let sum = L::sum(sum);
        if running.largest == largest {
            running.sum += sum;
            return;
        }
        let shrink = exp::<L>(running.largest - largest);
        *running = Running { largest, sum: running.sum * shrink + sum };
        for at in (0..out.len()).step_by(L::LANES) {
            let out = out.as_mut_ptr().add(at);
            L::store(out, L::mul(L::load(out), L::splat(shrink)));
        }
    }
}

/// Rounds the weights to whole numbers of 15 bits, behind them, and gives by what to multiply these.
#[inline(always)]
unsafe fn round<L: Lanes>(weights: *mut f32, seen: Range<usize>, heaviest: f32) -> f32 {
    const MOST: f32 = i16::MAX as f32;
    // SAFETY: the caller's promise.
    unsafe {
        let whole = weights.add(TILE).cast::<i16>();
        whole.write_bytes(0, TILE);
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

#[inline(always)]
unsafe fn exp<L: Lanes>(x: f32) -> f32 {
    let mut lanes = [0.0; crate::kernels::lanes::PADDING];
    // SAFETY: the caller's promise; a vector has fewer lanes.
    unsafe { L::store(lanes.as_mut_ptr(), exp_of_negative::<L>(L::splat(x))) };
    lanes[0]
}
