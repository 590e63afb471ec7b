//! The arithmetic, one number after the other: what every instruction set must give to the last bit.

use super::activations::Panel;
use crate::kernels::packed::{BLOCK, Block, Scheme, TILE, row_scale};

/// Quantises a block of x: gives its scale and the sum of its values.
pub(super) fn quantise(x: &[f32; BLOCK], values: &mut [i8; BLOCK]) -> (f32, i32) {
    let largest = x.iter().map(|x| x.abs().to_bits()).max().map_or(0.0, f32::from_bits);
    let scale = largest / 127.0;
    if scale == 0.0 || !largest.is_finite() {
        *values = [0; BLOCK];
        return (if scale == 0.0 { 0.0 } else { f32::NAN }, 0);
    }
    for (value, x) in values.iter_mut().zip(x) {
        // More than 127 comes of scales so small that they lost digits.
        *value = (x / scale).round_ties_even().clamp(-127.0, 127.0) as i8;
    }
    (scale, values.iter().map(|&value| i32::from(value)).sum())
}

/// Multiplies the rows of a panel by a tile of 4 bits.
pub(super) fn four<const OFFSETS: bool>(tile: &[u8], panel: Panel<'_>, out: &mut [[f32; TILE]]) {
    let scheme = if OFFSETS { Scheme::FourWithOffsets } else { Scheme::Four };
    out.fill([0.0; TILE]);
    for (at, block) in tile.chunks_exact(scheme.block_bytes()).enumerate() {
        let block = Block::new(block, scheme);
        for (row, out) in out.iter_mut().enumerate() {
            let x = at * panel.rows + row;
            for (lane, out) in out.iter_mut().enumerate() {
                let mut sum = block.scale(lane) * dot(&block, lane, &panel.values[x]) as f32;
                if OFFSETS {
                    sum = block.offset(lane).mul_add(panel.sums[x], sum);
                }
                *out = panel.scales[x].mul_add(sum, *out);
            }
        }
    }
}

/// Multiplies the rows of a panel by a tile of 8 bits.
pub(super) fn eight(tile: &[u8], panel: Panel<'_>, out: &mut [[f32; TILE]]) {
    out.fill([0.0; TILE]);
    for (at, block) in tile.chunks_exact(Scheme::Eight.block_bytes()).enumerate() {
        let block = Block::new(block, Scheme::Eight);
        for (row, out) in out.iter_mut().enumerate() {
            let x = at * panel.rows + row;
            for (lane, out) in out.iter_mut().enumerate() {
                *out = panel.scales[x].mul_add(dot(&block, lane, &panel.values[x]) as f32, *out);
            }
        }
    }
    for out in out {
        out.iter_mut().enumerate().for_each(|(lane, out)| *out *= row_scale(tile, lane));
    }
}

fn dot(block: &Block<'_>, lane: usize, values: &[i8; BLOCK]) -> i32 {
    values.iter().enumerate().map(|(column, &value)| block.int(lane, column) * i32::from(value)).sum()
}
