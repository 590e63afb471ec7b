//! `nearside::linear`: x f32 `[1, S, K]` times a weight of 4 or 8 bits ([`packed`](super::packed)), to out f32
//! `[1, S, rows]`, plus a bias f32 `[rows]` if there is one. The eager reference is `nearside_export.ops.linear`.
//!
//! Each row of x is quantised to 8 bits in blocks of 32 columns ([`Activations`]); the products of a block are summed in
//! whole numbers, the blocks one after the other in f32. That order is the same for every output, whatever S, the threads
//! and the instruction set, and every rounding too: so a row's result depends on nothing but the row and the weight, to the
//! last bit.
//!
//! One row (decoding) takes as long as the weight takes from memory, so its tiles are read once, in order. More rows take
//! as long as the arithmetic: a panel of them goes by each tile, which is unpacked once for all of the panel.

mod activations;
mod arguments;
#[cfg(target_arch = "x86_64")]
mod avx2;
#[cfg(target_arch = "x86_64")]
mod avx512;
mod inner_loops;
pub mod measured;
#[cfg(target_arch = "aarch64")]
mod neon;
mod scalar;
#[cfg(test)]
mod tests;
#[cfg(target_arch = "x86_64")]
mod vnni256;

use super::packed::TILE;
use super::pool::{self, Parts};
use crate::bridge::ffi;
use activations::Activations;
use arguments::Arguments;
use inner_loops::InnerLoops;
use std::cell::RefCell;
use std::ops::Range;

thread_local! {
    /// The activations of a thread's calls, which keep their memory from call to call.
    static ACTIVATIONS: RefCell<Activations> = const { RefCell::new(Activations::new()) };
}

/// Bytes that a thread keeps once it made a call with so many elements of x.
pub(crate) fn scratch_bytes(elements: u64) -> u64 {
    Activations::bytes(elements)
}

/// Runs a call.
///
/// # Errors
/// What is wrong with it, in words.
///
/// # Safety
/// Every tensor's data must hold its bytes, and nothing else may use them until this returns.
pub(super) unsafe fn run(call: &ffi::LinearCall) -> Result<(), String> {
    // SAFETY: the caller's promise.
    let mut arguments = unsafe { Arguments::of(call) }?;
    multiply(&mut arguments, InnerLoops::best())
}

fn multiply(arguments: &mut Arguments<'_>, loops: &InnerLoops) -> Result<(), String> {
    ACTIVATIONS.with_borrow_mut(|activations| {
        activations.quantise(arguments.rows, arguments.x, &arguments.weight, loops)?;
        let chunk = chunk(arguments, pool::threads());
        let (weight, bias, tiles) = (arguments.weight, arguments.bias, arguments.weight.tiles());
        let out = Parts::new(arguments.out);
        let columns = weight.rows();
        pool::run(tiles.div_ceil(chunk), |at| {
            let tiles = at * chunk..tiles.min((at + 1) * chunk);
            each_panel_and_tile(activations, tiles, |panel, tile| {
                let mut sums = [[0.0; TILE]; activations::MOST_ROWS];
                let rows = activations.rows_of(panel);
                loops.multiply(weight.scheme(), weight.tile(tile), activations.panel(panel), &mut sums);
                let lanes = tile * TILE..columns.min((tile + 1) * TILE);
                for (row, sums) in rows.zip(&sums) {
                    let at = row * columns;
                    // SAFETY: this row of this tile is this task's alone.
                    let out = unsafe { out.part(at + lanes.start..at + lanes.end) };
                    match <&mut [f32; TILE]>::try_from(&mut *out) {
                        Ok(out) => *out = *sums,
                        Err(_) => out.copy_from_slice(&sums[..lanes.len()]),
                    }
                    if let Some(bias) = bias {
                        out.iter_mut().zip(&bias[lanes.clone()]).for_each(|(out, bias)| *out += bias);
                    }
                }
            });
        })
    })
}

/// Bytes of activations that stay in a core's second-level cache beside the tiles that they meet.
const CACHED: usize = 192 << 10;

/// Calls `work` for each panel with each tile: as many panels at a time as stay in the cache go by all tiles.
fn each_panel_and_tile(activations: &Activations, tiles: Range<usize>, mut work: impl FnMut(usize, usize)) {
    let panels = activations.panels();
    let group = (CACHED / activations.panel_bytes().max(1)).max(1);
    for first in (0..panels).step_by(group) {
        for tile in tiles.clone() {
            (first..panels.min(first + group)).for_each(|panel| work(panel, tile));
        }
    }
}

/// A task takes as long as one that reads so many bytes of weights for one row: below, handing it over shows.
const TASK: usize = 16 << 10;

/// Tasks of a thread, at most: enough that a fast core can take some from a slow one.
const TASKS: usize = 8;

/// Tiles of a task.
fn chunk(arguments: &Arguments<'_>, threads: usize) -> usize {
    // Arithmetic for 4 rows takes about as long as reading does for one.
    let cost = arguments.weight.tile_bytes().saturating_mul(1 + arguments.rows / 4).max(1);
    let least = TASK.div_ceil(cost);
    least.max(arguments.weight.tiles().div_ceil(threads * TASKS))
}
