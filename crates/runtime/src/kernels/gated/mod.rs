//! `nearside::gated`: x f32 `[1, S, 2 * I]`, in each row the gate and then the up projection, to out f32 `[1, S, I]`:
//! `activation(gate) * up`. The activation is `silu`, or `gelu_tanh` (GELU with its approximation by tanh). The eager
//! reference is `nearside_export.ops.gated`.

mod activation;
mod arguments;
#[cfg(test)]
mod tests;

use super::instruction_set::InstructionSet;
use super::lanes::{Lanes, PADDING, dispatch};
use super::pool::{self, Parts};
use crate::bridge::ffi;
use activation::{Activation, Function, GeluTanh, Silu};
use arguments::Arguments;

/// Elements of the output below which a call is done sooner than another thread would begin.
const WORTH_THREADS: usize = 1 << 15;

/// Runs a call.
///
/// # Errors
/// What is wrong with it, in words.
///
/// # Safety
/// Every tensor's data must hold its bytes, and nothing else may use them until this returns.
pub(super) unsafe fn run(call: &ffi::GatedCall) -> Result<(), String> {
    // SAFETY: the caller's promise.
    activate(unsafe { Arguments::of(call) }?, InstructionSet::best())
}

fn activate(arguments: Arguments<'_>, set: InstructionSet) -> Result<(), String> {
    let Arguments { x, width, activation, out } = arguments;
    if out.is_empty() {
        return Ok(());
    }
    let rows = out.len() / width;
    let threads = out.len() >= WORTH_THREADS && pool::threads() > 1;
    let chunk = if threads { (WORTH_THREADS / 4).div_ceil(width) } else { rows };
    let out = Parts::new(out);
    let task = |at: usize| {
        let which = at * chunk..rows.min((at + 1) * chunk);
        // SAFETY: the instruction set is there; each task has its own rows.
        unsafe {
            let out = out.part(which.start * width..which.end * width);
            activate_rows(set, activation, &x[which.start * 2 * width..which.end * 2 * width], width, out);
        }
    };
    if threads {
        return pool::run(rows.div_ceil(chunk), task);
    }
    task(0);
    Ok(())
}

dispatch! {
    /// # Safety
    /// The processor has the instruction set.
    unsafe fn activate_rows(activation: Activation, x: &[f32], width: usize, out: &mut [f32]) = with_set
}

#[inline(always)]
unsafe fn with_set<L: Lanes>(activation: Activation, x: &[f32], width: usize, out: &mut [f32]) {
    for (x, out) in x.chunks_exact(2 * width).zip(out.chunks_exact_mut(width)) {
        let (gate, up) = x.split_at(width);
        // SAFETY: the caller's promise.
        unsafe {
            match activation {
                Activation::Silu => row::<L, Silu>(gate, up, out),
                Activation::GeluTanh => row::<L, GeluTanh>(gate, up, out),
            }
        }
    }
}

#[inline(always)]
unsafe fn row<L: Lanes, A: Function>(gate: &[f32], up: &[f32], out: &mut [f32]) {
    let whole = out.len() / L::LANES * L::LANES;
    assert!(gate.len() == out.len() && up.len() == out.len());
    // SAFETY: the caller's promise; there are as many.
    unsafe {
        for at in (0..whole).step_by(L::LANES) {
            let activated = A::of::<L>(L::load(gate.as_ptr().add(at)));
            L::store(out.as_mut_ptr().add(at), L::mul(activated, L::load(up.as_ptr().add(at))));
        }
        let rest = out.len() - whole;
        if rest > 0 {
            let (mut last, mut activated) = ([0.0; PADDING], [0.0; PADDING]);
            last[..rest].copy_from_slice(&gate[whole..]);
            L::store(activated.as_mut_ptr(), A::of::<L>(L::load(last.as_ptr())));
            for (at, activated) in activated[..rest].iter().enumerate() {
                out[whole + at] = activated * up[whole + at];
            }
        }
    }
}
