//! Linears for the benchmark, which is outside of this crate.

use super::arguments::Arguments;
use super::inner_loops::InnerLoops;
use super::multiply;
use crate::kernels::packed::{BLOCK, Packed, Scheme, TILE};
use half::f16;

/// A linear's weight, of bytes that are the same in each run.
#[derive(Debug)]
pub struct Linear {
    bytes: Vec<u8>,
    tile_bytes: usize,
    rows: usize,
    columns: usize,
    bits: i64,
}

impl Linear {
    /// A weight of 4 bits with offsets, or of 8 bits.
    pub fn new(rows: usize, columns: usize, bits: i64) -> Self {
        let scheme = if bits == 4 { Scheme::FourWithOffsets } else { Scheme::Eight };
        let tile_bytes = scheme.tile_bytes(columns).expect("a linear of this size");
        let mut state = 1_u32;
        let mut byte = || {
            state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
            (state >> 24) as u8
        };
        let mut bytes: Vec<u8> = (0..rows.div_ceil(TILE) * tile_bytes).map(|_| byte()).collect();
        for tile in bytes.chunks_exact_mut(tile_bytes) {
            for block in tile[..columns / BLOCK * scheme.block_bytes()].chunks_exact_mut(scheme.block_bytes())
            {
                let halves = block[scheme.value_bytes()..].chunks_exact_mut(size_of::<f16>());
                halves.for_each(|half| half.copy_from_slice(&f16::from_f32(0.01).to_le_bytes()));
            }
            let scales = tile[columns / BLOCK * scheme.block_bytes()..].chunks_exact_mut(size_of::<f32>());
            scales.for_each(|scale| scale.copy_from_slice(&0.01_f32.to_le_bytes()));
        }
        Self { bytes, tile_bytes, rows, columns, bits }
    }

    /// Bytes of the weight.
    pub fn bytes(&self) -> usize {
        self.bytes.len()
    }

    /// Elements of a row of x, and of the result.
    pub fn sizes(&self) -> [usize; 2] {
        [self.columns, self.rows]
    }

    /// Multiplies rows of x, `[S, columns]`, into out, `[S, rows]`, with the instructions of that name, or the best ones.
    ///
    /// # Errors
    /// If the shapes don't fit, or there is no such instruction set here.
    pub fn run(&self, x: &[f32], out: &mut [f32], instructions: Option<&str>) -> Result<(), String> {
        let [rows, tiles] = [out.len() / self.rows, self.bytes.len() / self.tile_bytes];
        if x.len() != rows * self.columns || out.len() != rows * self.rows {
            return Err("x and out have other sizes".into());
        }
        let named = |name: &str| {
            let found = InnerLoops::available().find(|(its, _)| its.eq_ignore_ascii_case(name));
            found.map(|(_, loops)| loops).ok_or(format!("there is no {name} here"))
        };
        let loops = instructions.map_or(Ok(InnerLoops::best()), named)?;
        let weight =
            Packed::new(&self.bytes, [tiles, self.tile_bytes], [self.rows, self.columns], self.bits)?;
        multiply(&mut Arguments { rows, x, weight, bias: None, out }, loops)
    }
}
