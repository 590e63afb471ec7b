//! `nearside::attention`: attention over a KV cache that it updates in place; and what `nearside::rotary_attention` shares
//! with it.
//!
//! Query f32 `[1, S, H, D]`, key and value f32 `[1, S, KV, D]`, caches f32 `[KV, C, D]`, `cache_position` and
//! `visible_until` i64 `[S]`, out f32 `[1, S, H, D]`. Position `p` lives in slot `p % C`. Row `i` of key and value goes to
//! that of `cache_position[i]`; then the row at position `p` sees the positions from `p - window + 1` (from 0 without a
//! window) to `visible_until[i]` (to `p` without). Without a window all positions are below `C`; with one they may go
//! round, as long as no row overwrites what another one of the call sees. `H` is a multiple of `KV`: head `h` uses key
//! head `h / (H / KV)`. The eager reference is `nearside_export.ops.attention`.
//!
//! All of a call is checked before anything is written, so that a call that fails changes nothing.
//!
//! What a row gives depends on nothing but its query and what it sees, to the last bit: not on the other rows of the call,
//! nor on the number of threads. So a prompt gives the same in any chunks. To that end every row goes through the same
//! tiles of positions, counted from position 0, each sum is added up in one order, and splits, which threads share among
//! them, are merged in order whether there are threads or not.

mod arguments;
mod attend;
pub(super) mod cache;
mod element;
mod mix;
mod packed;
mod partial;
pub(super) mod positions;
pub(super) mod queries;
mod schedule;
mod scores;
mod softmax;
#[cfg(test)]
mod tests;
mod tile;

use super::instruction_set::InstructionSet;
use super::pool::Parts;
use crate::bridge::ffi;
use arguments::Arguments;
use cache::Cache;
use positions::Positions;
use queries::Queries;

/// Positions whose scores are computed at once. Tiles begin at multiples of it.
const TILE: usize = 64;

/// Products of a row with a tile's keys, which kernels may write some beyond of, and then its weights as whole numbers of 16
/// bits and zeros, where they are summed as such.
const SCORES: usize = TILE + TILE / 2 + 16;

/// Positions that one running softmax goes over: a whole number of tiles.
const SPLIT: usize = 256;

/// Rows of one key head that are worked on together, so that its keys and values are read once for all of them.
const BLOCK: usize = 96;

/// Rows of a block that have their products with keys as they lie in the cache, and their sums of values, at once.
const TOGETHER: usize = 4;

/// Sizes of a call.
#[derive(Debug, Clone, Copy)]
pub(super) struct Shape {
    /// S
    pub(super) rows: usize,
    /// H
    pub(super) heads: usize,
    /// KV
    pub(super) key_heads: usize,
    /// D
    pub(super) dim: usize,
    /// C
    pub(super) slots: usize,
}

impl Shape {
    /// Query heads that share a key head.
    fn group(&self) -> usize {
        self.heads / self.key_heads
    }
}

/// A call whose shapes fit together, whose positions were checked, and whose keys and values are stored.
pub(super) struct Attention<'a> {
    pub(super) set: InstructionSet,
    /// How many threads work is divided for, if not the pool's.
    pub(super) threads: Option<usize>,
    pub(super) shape: Shape,
    pub(super) queries: Queries<'a>,
    pub(super) keys: &'a Cache<'a>,
    pub(super) values: &'a Cache<'a>,
    pub(super) positions: Positions<'a>,
    pub(super) scale: f32,
    /// `[S, H, D]`
    pub(super) out: Parts<'a, f32>,
}

impl Attention<'_> {
    /// Attends for every row and head of a call that has some.
    ///
    /// # Errors
    /// If a thread panicked.
    ///
    /// # Safety
    /// The call was checked, and nothing else uses what it writes, nor writes the caches, meanwhile.
    pub(super) unsafe fn attend(&self) -> Result<(), String> {
        // SAFETY: the caller's promise.
        unsafe { schedule::attend(self) }
    }

    /// Writes the output of a row of a key head, given its weighted sum of values and the sum of the weights.
    ///
    /// # Safety
    /// Nothing else uses the row's output meanwhile.
    unsafe fn write(&self, key_head: usize, row: usize, values: &[f32], sum: f32) {
        let Shape { heads, dim, .. } = self.shape;
        let group = self.shape.group();
        let at = (row / group * heads + key_head * group + row % group) * dim;
        // SAFETY: the caller's promise.
        unsafe { softmax::share(self.set, values, sum, self.out.part(at..at + dim)) };
    }
}

/// Runs a call.
///
/// # Errors
/// What is wrong with it, in words.
///
/// # Safety
/// Every tensor's data must hold its bytes, and nothing else may use them until this returns.
pub(super) unsafe fn run(call: &ffi::AttentionCall) -> Result<(), String> {
    // SAFETY: the caller's promise.
    unsafe { run_with(call, InstructionSet::best(), None) }
}

unsafe fn run_with(
    call: &ffi::AttentionCall,
    set: InstructionSet,
    threads: Option<usize>,
) -> Result<(), String> {
    // SAFETY: the caller's promise.
    let arguments = unsafe { Arguments::of(call) }?;
    let Arguments { shape, positions, .. } = arguments;
    positions.check()?;
    if shape.dim == 0 || shape.rows == 0 {
        return Ok(());
    }
    let (keys, values) = (&arguments.key_cache, &arguments.value_cache);
    for row in 0..shape.rows {
        for head in 0..shape.key_heads {
            let at = (row * shape.key_heads + head) * shape.dim;
            let part = at..at + shape.dim;
            // SAFETY: nothing else uses the caches.
            unsafe {
                keys.copy(head, positions.slot(row), &arguments.key[part.clone()]);
                values.copy(head, positions.slot(row), &arguments.value[part]);
            }
        }
    }
    let attention = Attention {
        set,
        threads,
        shape,
        queries: Queries::Ready(arguments.query),
        keys,
        values,
        positions,
        scale: arguments.scale,
        out: Parts::new(arguments.out),
    };
    // SAFETY: the call was checked, and what it writes is used by nothing else.
    unsafe { attention.attend() }
}
