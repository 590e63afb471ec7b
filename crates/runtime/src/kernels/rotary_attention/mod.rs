//! `nearside::rotary_attention`: what is between a decoder layer's projections, in one call.
//!
//! qkv f32 `[1, S, (H + 2 * KV) * D]`, in each row the queries, the keys and the values; query and key norm f32 `[D]`, each
//! of which may be missing; table f32 `[S, D]` of [`rope_table`](super::rope_table); `cache_position` and `visible_until`
//! i64 `[S]`; out f32 `[1, S, H * D]`. Queries and keys are divided by their root mean square by head where there is a
//! norm, as [`rms_norm`](super::rms_norm) does, and rotated, `D / 2` pairs half a head apart. Keys and values are stored in
//! the caches, and the queries attend as in [`attention`](super::attention), which describes positions and windows. The
//! eager reference is `nearside_export.ops.rotary_attention`.
//!
//! The caches are f32 or f16 `[KV, C, D]`, or u8 `[KV, C, D + 4]`: for each head `C * D` whole numbers from -127 to 127, row
//! by row, then `C` scales (f32), by which they are multiplied. There scores are products of whole numbers: queries are
//! rounded likewise.

mod arguments;
pub(super) mod rotate;
#[cfg(test)]
mod tests;

use super::attention::Attention;
use super::attention::queries::Queries;
use super::instruction_set::InstructionSet;
use super::lanes::{Lanes, PADDING, dispatch};
use super::pool::{self, Parts};
use super::scratch::Scratch;
use crate::bridge::ffi;
use arguments::Arguments;
use std::cell::RefCell;

/// Elements of keys and values below which storing them is done sooner than another thread would begin.
const WORTH_THREADS: usize = 1 << 14;

/// Runs a call.
///
/// # Errors
/// What is wrong with it, in words.
///
/// # Safety
/// Every tensor's data must hold its bytes, and nothing else may use them until this returns.
pub(super) unsafe fn run(call: &ffi::RotaryAttentionCall) -> Result<(), String> {
    // SAFETY: the caller's promise.
    unsafe { run_with(call, InstructionSet::best(), None) }
}

pub(super) unsafe fn run_with(
    call: &ffi::RotaryAttentionCall,
    set: InstructionSet,
    threads: Option<usize>,
) -> Result<(), String> {
    // SAFETY: the caller's promise.
    let arguments = unsafe { Arguments::of(call) }?;
    let shape = arguments.shape;
    arguments.positions.check()?;
    if shape.dim == 0 || shape.rows == 0 {
        return Ok(());
    }
    let tasks = 2 * shape.key_heads;
    // SAFETY: the instruction set is there, nothing else uses the caches, and each task has a head of one for itself.
    let store = |at: usize| unsafe { store_head(set, &arguments, at) };
    if tasks * shape.rows * shape.dim < WORTH_THREADS {
        (0..tasks).for_each(store);
    } else {
        pool::run(tasks, store)?;
    }
    let attention = Attention {
        set,
        threads,
        shape,
        queries: Queries::ToRotate(arguments.queries),
        keys: &arguments.key_cache,
        values: &arguments.value_cache,
        positions: arguments.positions,
        scale: arguments.scale,
        out: Parts::new(arguments.out),
    };
    // SAFETY: the call was checked, and what it writes is used by nothing else.
    unsafe { attention.attend() }
}

/// Stores the keys of one head of the cache, or its values: heads of keys come first. Of rows for the same slot the last
/// one stays.
///
/// # Safety
/// The processor has the instruction set, and nothing else uses the head meanwhile.
unsafe fn store_head(set: InstructionSet, arguments: &Arguments<'_>, at: usize) {
    thread_local! {
        static SCRATCH: RefCell<Scratch> = RefCell::default();
    }
    SCRATCH.with_borrow_mut(|scratch| {
        let row = scratch.floats(arguments.shape.dim.next_multiple_of(PADDING));
        // SAFETY: the caller's promise.
        unsafe { store_head_with(set, arguments, at, row) };
    });
}

dispatch! {
    unsafe fn store_head_with(arguments: &Arguments<'_>, at: usize, buffer: &mut [f32]) = with_set
}

#[inline(always)]
unsafe fn with_set<L: Lanes>(arguments: &Arguments<'_>, at: usize, buffer: &mut [f32]) {
    let shape = arguments.shape;
    let (keys, positions) = (&arguments.keys, &arguments.positions);
    for row in 0..shape.rows {
        let (slot, head) = (positions.slot(row), shape.heads + at);
        // SAFETY: the caller's promise.
        unsafe {
            if at < shape.key_heads {
                keys.apply::<L>(row, head, buffer);
                arguments.key_cache.store::<L>(at, slot, buffer);
            } else {
                buffer[..shape.dim].copy_from_slice(keys.head(row, head));
                arguments.value_cache.store::<L>(at - shape.key_heads, slot, buffer);
            }
        }
    }
}
