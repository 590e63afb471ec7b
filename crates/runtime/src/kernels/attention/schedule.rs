//! Divides a call's work among threads.

use super::attend::{Work, attend_block};
use super::partial::{Partial, merge_splits};
use super::{Attention, BLOCK, SPLIT, Shape};
use crate::kernels::pool;
use crate::kernels::scratch::Scratch;
use std::cell::RefCell;
use std::ops::Range;

/// Multiplications below which a call is done sooner than another thread would begin.
const WORTH_THREADS: usize = 1 << 19;

/// Attends for every row and head of a call that has some.
///
/// # Errors
/// If a thread panicked.
///
/// # Safety
/// The call was checked, and nothing else uses what it writes, nor writes the caches, meanwhile.
pub(super) unsafe fn attend(call: &Attention<'_>) -> Result<(), String> {
    let Shape { rows, heads, key_heads, dim, .. } = call.shape;
    let (mut first, mut end, mut seen) = (usize::MAX, 0, 0usize);
    for row in 0..rows {
        let visible = call.positions.visible(row);
        (first, end) = (first.min(visible.start), end.max(visible.end));
        seen = seen.saturating_add(visible.len());
    }
    let all = rows * call.shape.group();
    let blocks = all.div_ceil(BLOCK);
    let work = |at: usize| {
        // The later blocks of a prompt see more: they go first.
        let (key_head, block) = (at % key_heads, blocks - 1 - at / key_heads);
        Work { key_head, rows: block * BLOCK..all.min((block + 1) * BLOCK), split: None }
    };
    let few = seen.saturating_mul(2 * heads * dim) < WORTH_THREADS;
    let threads = if few { 1 } else { call.threads.unwrap_or_else(pool::threads) };
    let splits = first / SPLIT..end.div_ceil(SPLIT);
    // SAFETY: the caller's promise; each task writes other rows.
    unsafe {
        if threads <= 1 {
            (0..key_heads * blocks).for_each(|at| attend_block(call, &work(at), None));
            return Ok(());
        }
        if blocks == 1 && splits.len() > 1 && key_heads < 4 * threads {
            return by_splits(call, splits);
        }
        pool::run(key_heads * blocks, |at| attend_block(call, &work(at), None))
    }
}

/// Gives threads a split of the positions each, of a call with one block a key head, and merges what comes of them.
unsafe fn by_splits(call: &Attention<'_>, splits: Range<usize>) -> Result<(), String> {
    thread_local! {
        static SCRATCH: RefCell<Scratch> = RefCell::default();
    }
    let Shape { rows, key_heads, .. } = call.shape;
    let count = rows * call.shape.group();
    let stride = Partial::stride(call.shape.dim);
    SCRATCH.with_borrow_mut(|scratch| {
        let tasks = key_heads * splits.len();
        let memory = Shared(scratch.floats(tasks * count * stride).as_mut_ptr());
        let partial = |task: usize| {
            let Shared(memory) = *{ &memory };
            Partial { stride, first: memory.wrapping_add(task * count * stride) }
        };
        pool::run(tasks, |task| {
            let (key_head, split) = (task / splits.len(), splits.start + task % splits.len());
            let work = Work { key_head, rows: 0..count, split: Some(split) };
            // SAFETY: the caller's promise; each task has a part of the memory for itself.
            unsafe { attend_block(call, &work, Some(partial(task))) }
        })?;
        // SAFETY: the caller's promise; all of the memory was written.
        unsafe { merge_splits(call, partial(0), splits) };
        Ok(())
    })
}

/// Memory of which each task has its own part.
struct Shared(*mut f32);

// SAFETY: as above.
unsafe impl Sync for Shared {}
