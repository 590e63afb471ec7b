//! `nearside::attention`: attention over a KV cache that it updates in place.
//!
//! Query f32 `[1, S, H, D]`, key and value f32 `[1, S, KV, D]`, caches f32 `[KV, C, D]`, `cache_position` and
//! `visible_until` i64 `[S]`, out f32 `[1, S, H, D]`. Position `p` lives in slot `p % C`. Row `i` of key and value goes to
//! that of `cache_position[i]`; then the row at position `p` sees the positions from `p - window + 1` (from 0 without a
//! window) to `visible_until[i]` (to `p` without). Without a window all positions are below `C`; with one they may go
//! round, as long as no row overwrites what another one of the call sees. `H` is a multiple of `KV`: head `h` uses key
//! head `h / (H / KV)`. The eager reference is `nearside_export.ops.attention`.
//!
//! All of a call is checked before anything is written, so that a call that fails changes nothing.

mod arguments;
mod scalar;
#[cfg(test)]
mod tests;

use crate::bridge::ffi;
use arguments::Arguments;

/// Sizes of a call.
#[derive(Debug, Clone, Copy)]
struct Shape {
    /// S
    rows: usize,
    /// H
    heads: usize,
    /// KV
    key_heads: usize,
    /// D
    dim: usize,
    /// C
    slots: usize,
}

impl Shape {
    /// Query heads that share a key head.
    fn group(&self) -> usize {
        self.heads / self.key_heads
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
    let mut arguments = unsafe { Arguments::of(call) }?;
    arguments.check_positions()?;
    store(&arguments.shape, arguments.positions, arguments.key, arguments.key_cache);
    store(&arguments.shape, arguments.positions, arguments.value, arguments.value_cache);
    attend(&mut arguments);
    Ok(())
}

/// Writes the rows `[S, KV, D]` into their slots of the cache `[KV, C, D]`. Of rows for the same slot the last one stays.
fn store(shape: &Shape, positions: &[i64], rows: &[f32], cache: &mut [f32]) {
    let Shape { key_heads, dim, slots, .. } = *shape;
    if dim == 0 {
        return;
    }
    for (&position, row) in positions.iter().zip(rows.chunks_exact(key_heads * dim)) {
        for (head, part) in row.chunks_exact(dim).enumerate() {
            let at = (head * slots + (position % slots as i64) as usize) * dim;
            cache[at..at + dim].copy_from_slice(part);
        }
    }
}

/// Rows of one key head that are worked on together, so that its keys and values are read once for all of them.
const BLOCK: usize = 16;

/// Attends for every row and head. The work falls into parts that share nothing but what they read: a block of rows of one
/// key head each.
fn attend(arguments: &mut Arguments<'_>) {
    let shape = arguments.shape;
    let Shape { rows, key_heads, dim, slots, .. } = shape;
    if dim == 0 || rows == 0 {
        return;
    }
    for key_head in 0..key_heads {
        let cached = key_head * slots * dim..(key_head + 1) * slots * dim;
        let (keys, values) = (&arguments.key_cache[cached.clone()], &arguments.value_cache[cached]);
        // Rows that share a position stand side by side: they see the same slots.
        let all = rows * shape.group();
        for first in (0..all).step_by(BLOCK) {
            let mut block = scalar::Block::new();
            for row in first..all.min(first + BLOCK) {
                let (position, member) = (row / shape.group(), row % shape.group());
                let at = (position * shape.heads + key_head * shape.group() + member) * dim;
                block.add(at, arguments.visible(position));
            }
            block.attend(arguments.query, keys, values, dim, arguments.scale, arguments.out);
        }
    }
}
