//! `nearside::embedding`: rows of a packed weight ([`packed`](crate::kernels::packed)) as floats.
//!
//! Tokens i64 `[1, S]`, out f32 `[1, S, columns]`: `scale` times the row of each token. The eager reference is
//! `nearside_export.ops.embedding`. The table is never dequantised but for the rows that are asked for, and may be the same
//! as a linear's weight.

#[cfg(test)]
mod tests;

use crate::bridge::ffi;
use crate::kernels::packed::{BLOCK, Packed, Scheme, TILE};
use crate::kernels::tensor::Tensor;

/// Runs a call.
///
/// # Errors
/// What is wrong with it, in words.
///
/// # Safety
/// Every tensor's data must hold its bytes, and nothing else may use them until this returns.
pub(super) unsafe fn run(call: &ffi::EmbeddingCall) -> Result<(), String> {
    // SAFETY: the caller's promise.
    let Arguments { tokens, weight, scale, out } = unsafe { Arguments::of(call) }?;
    let rows = weight.rows();
    if let Some((at, token)) = tokens.iter().enumerate().find(|&(_, &token)| !is_row(token, rows)) {
        return Err(format!("tokens[{at}] is {token}, the table has {rows} rows"));
    }
    let columns = weight.blocks() * BLOCK;
    for (&token, out) in tokens.iter().zip(out.chunks_exact_mut(columns.max(1))) {
        dequantise(&weight, token as usize, scale, out);
    }
    Ok(())
}

/// A call whose shapes fit together and whose out shares no memory with any other tensor.
struct Arguments<'a> {
    tokens: &'a [i64],
    weight: Packed<'a>,
    scale: f32,
    out: &'a mut [f32],
}

impl Arguments<'_> {
    /// # Errors
    /// What is wrong with the call, in words.
    ///
    /// # Safety
    /// Every tensor's data must hold its bytes, and nothing else may use them as long as this is there.
    unsafe fn of(call: &ffi::EmbeddingCall) -> Result<Self, String> {
        let (mut tokens, mut weight, mut out) = ([0; 2], [0; 2], [0; 3]);
        // SAFETY: C++ gives as many sizes as there are dimensions.
        let (tokens, weight, out) = unsafe {
            (
                Tensor::new::<i64>("tokens", &call.tokens, &mut tokens)?,
                Tensor::new::<u8>("weight", &call.weight, &mut weight)?,
                Tensor::new::<f32>("out", &call.out, &mut out)?,
            )
        };
        let &[batch, s] = tokens.sizes() else { return Err("tokens has no rows".into()) };
        let &[tiles, tile_bytes] = weight.sizes() else { return Err("weight has no tiles".into()) };
        let columns =
            usize::try_from(call.columns).map_err(|_| format!("there are {} columns", call.columns))?;
        if batch != 1 {
            return Err(format!("the batch is {batch}, not 1"));
        }
        out.must_be(&[1, s, columns])?;
        [&tokens, &weight].into_iter().try_for_each(|read| out.must_be_apart_from(read))?;
        // The last tile may have rows that are not of the vocabulary; they are zeros.
        let rows = tiles.saturating_mul(TILE);
        // SAFETY: the caller's promise; what is written shares memory with nothing else.
        unsafe {
            Ok(Self {
                tokens: tokens.elements(),
                weight: Packed::new(weight.elements(), [tiles, tile_bytes], [rows, columns], call.bits)?,
                scale: call.scale as f32,
                out: out.elements_mut(),
            })
        }
    }
}

fn is_row(token: i64, rows: usize) -> bool {
    usize::try_from(token).is_ok_and(|token| token < rows)
}

fn dequantise(weight: &Packed<'_>, row: usize, scale: f32, out: &mut [f32]) {
    let (tile, lane) = (row / TILE, row % TILE);
    for (at, out) in out.as_chunks_mut::<BLOCK>().0.iter_mut().enumerate() {
        let block = weight.block(tile, at);
        let (by, offset) = match weight.scheme() {
            Scheme::Four => (block.scale(lane), 0.0),
            Scheme::FourWithOffsets => (block.scale(lane), block.offset(lane)),
            Scheme::Eight => (weight.row_scale(row), 0.0),
        };
        for (column, out) in out.iter_mut().enumerate() {
            *out = scale * (by * block.int(lane, column) as f32 + offset);
        }
    }
}
