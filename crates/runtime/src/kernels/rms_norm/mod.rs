//! `nearside::rms_norm` and `nearside::add_rms_norm`: rows divided by their root mean square.
//!
//! x f32 `[..., D]`, weight f32 `[D]`, out as x: `x / sqrt(mean(x^2) + eps) * weight`, a row of `D` elements at a time. With
//! a delta of x's shape the first out is `x + delta`, and the second one that, normalised. The eager references are
//! `nearside_export.ops.rms_norm` and `nearside_export.ops.add_rms_norm`.

mod arguments;
pub(super) mod norm;
#[cfg(test)]
mod tests;

use super::instruction_set::InstructionSet;
use super::lanes::{Lanes, dispatch};
use super::pool::{self, Parts};
use crate::bridge::ffi;
use arguments::{Arguments, Sum};
use std::ops::Range;

/// Elements below which a call is done sooner than another thread would begin.
const WORTH_THREADS: usize = 1 << 16;

/// Runs a call of `nearside::rms_norm`.
///
/// # Errors
/// What is wrong with it, in words.
///
/// # Safety
/// Every tensor's data must hold its bytes, and nothing else may use them until this returns.
pub(super) unsafe fn run(call: &ffi::RmsNormCall) -> Result<(), String> {
    // SAFETY: the caller's promise.
    normalise(unsafe { Arguments::of(call) }?, InstructionSet::best())
}

/// Runs a call of `nearside::add_rms_norm`.
///
/// # Errors
/// What is wrong with it, in words.
///
/// # Safety
/// As for [`run`].
pub(super) unsafe fn run_with_sum(call: &ffi::AddRmsNormCall) -> Result<(), String> {
    // SAFETY: the caller's promise.
    normalise(unsafe { Arguments::with_sum(call) }?, InstructionSet::best())
}

fn normalise(arguments: Arguments<'_>, set: InstructionSet) -> Result<(), String> {
    let Arguments { x, sum, weight, eps, out } = arguments;
    let dim = weight.len();
    if x.is_empty() {
        return Ok(());
    }
    let rows = x.len() / dim;
    let rows_of = Rows {
        x,
        sum: sum.map(|Sum { delta, out }| (delta, Parts::new(out))),
        weight,
        eps,
        out: Parts::new(out),
    };
    if x.len() < WORTH_THREADS || pool::threads() <= 1 {
        // SAFETY: the instruction set is there, and nothing else uses the outs.
        unsafe { normalise_rows(set, &rows_of, 0..rows) };
        return Ok(());
    }
    let chunk = (WORTH_THREADS / 4).div_ceil(dim);
    pool::run(rows.div_ceil(chunk), |at| {
        // SAFETY: as above; each task has its own rows.
        unsafe { normalise_rows(set, &rows_of, at * chunk..rows.min((at + 1) * chunk)) };
    })
}

/// What threads share of a call.
struct Rows<'a> {
    x: &'a [f32],
    sum: Option<(&'a [f32], Parts<'a, f32>)>,
    weight: &'a [f32],
    eps: f32,
    out: Parts<'a, f32>,
}

dispatch! {
    /// # Safety
    /// The processor has the instruction set, and nothing else uses these rows of the outs.
    unsafe fn normalise_rows(rows: &Rows<'_>, which: Range<usize>) = with_set
}

#[inline(always)]
unsafe fn with_set<L: Lanes>(rows: &Rows<'_>, which: Range<usize>) {
    let dim = rows.weight.len();
    for row in which {
        let part = row * dim..(row + 1) * dim;
        let x = &rows.x[part.clone()];
        // SAFETY: the caller's promise.
        unsafe {
            let x = match &rows.sum {
                None => x,
                Some((delta, sum)) => {
                    let sum = sum.part(part.clone());
                    norm::add::<L>(x, &delta[part.clone()], sum);
                    sum
                }
            };
            let factor = norm::root_mean_square::<L>(x, rows.eps);
            norm::normalise::<L>(x, factor, rows.weight, rows.out.part(part));
        }
    }
}
