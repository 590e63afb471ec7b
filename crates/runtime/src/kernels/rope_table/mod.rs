//! `nearside::rope_table`: by how much queries and keys are rotated, once for all layers of a model.
//!
//! `cache_position` i64 `[S]` and frequencies f32 `[D / 2]`, in radians a position, to out f32 `[S, D]`: the cosines of
//! `position * frequency`, then the sines. The angle is a product of floats, as in the eager models; its cosine and sine are
//! rounded from double precision. The eager reference is `nearside_export.ops.rope_table`.

#[cfg(test)]
mod tests;

use super::tensor::Tensor;
use crate::bridge::ffi;

/// Runs a call.
///
/// # Errors
/// What is wrong with it, in words.
///
/// # Safety
/// Every tensor's data must hold its bytes, and nothing else may use them until this returns.
pub(super) unsafe fn run(call: &ffi::RopeTableCall) -> Result<(), String> {
    let (mut positions, mut frequencies, mut out) = ([0; 1], [0; 1], [0; 2]);
    // SAFETY: C++ gives as many sizes as there are dimensions.
    let (positions, frequencies, out) = unsafe {
        (
            Tensor::new::<i64>("cache_position", &call.cache_position, &mut positions)?,
            Tensor::new::<f32>("frequencies", &call.frequencies, &mut frequencies)?,
            Tensor::new::<f32>("out", &call.out, &mut out)?,
        )
    };
    out.must_be(&[positions.sizes()[0], 2 * frequencies.sizes()[0]])?;
    out.must_be_apart_from(&positions)?;
    out.must_be_apart_from(&frequencies)?;
    // SAFETY: the caller's promise; out shares memory with nothing else.
    unsafe { fill(positions.elements(), frequencies.elements(), out.elements_mut()) };
    Ok(())
}

fn fill(positions: &[i64], frequencies: &[f32], out: &mut [f32]) {
    if frequencies.is_empty() {
        return;
    }
    for (&position, row) in positions.iter().zip(out.chunks_exact_mut(2 * frequencies.len())) {
        let (cosines, sines) = row.split_at_mut(frequencies.len());
        for ((frequency, cosine), sine) in frequencies.iter().zip(cosines).zip(sines) {
            let (s, c) = f64::from(position as f32 * frequency).sin_cos();
            (*cosine, *sine) = (c as f32, s as f32);
        }
    }
}
