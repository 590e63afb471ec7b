//! NEON: a tile's rows are the lanes of four vectors.

#![expect(clippy::needless_range_loop, reason = "an index is of several arrays")]

mod dot;
mod matrix;
mod widening;

pub(super) use dot::Dot;
pub(super) use matrix::Matrix;
pub(super) use widening::Widening;

use super::activations::Panel;
use crate::kernels::packed::{BLOCK, Scheme, TILE};
use std::arch::aarch64::*;

/// A number for each row of a tile.
type Rows<T> = [T; 4];

/// How products of bytes are summed, over the 32 columns of a block of each row of a tile.
pub(super) trait Products {
    /// With values of 4 bits, from 0 on.
    ///
    /// # Safety
    /// `values` must point to a block's, each of `x` to as many columns, and the processor have the instructions.
    unsafe fn four<const R: usize>(values: *const u8, x: [*const i8; R]) -> [Rows<int32x4_t>; R];

    /// With the integers that values of 8 bits stand for.
    ///
    /// # Safety
    /// As above.
    unsafe fn eight<const R: usize>(values: *const u8, x: [*const i8; R]) -> [Rows<int32x4_t>; R];
}

/// Quantises a block of x: gives its scale and the sum of its values.
///
/// # Safety
/// The processor has NEON, as all with AArch64 do.
pub(super) unsafe fn quantise(x: &[f32; BLOCK], values: &mut [i8; BLOCK]) -> (f32, i32) {
    // SAFETY: the caller's promise; a block is eight vectors of floats, two of bytes.
    unsafe {
        let parts: [float32x4_t; 8] = std::array::from_fn(|at| vld1q_f32(x.as_ptr().add(4 * at)));
        // As whole numbers, so that NaNs are the largest ones.
        let bits = parts.map(|part| vreinterpretq_u32_f32(vabsq_f32(part)));
        let largest = bits.into_iter().fold(vdupq_n_u32(0), |largest, bits| vmaxq_u32(largest, bits));
        let largest = f32::from_bits(vmaxvq_u32(largest));
        let scale = largest / 127.0;
        if scale == 0.0 || !largest.is_finite() {
            *values = [0; BLOCK];
            return (if scale == 0.0 { 0.0 } else { f32::NAN }, 0);
        }
        let (by, most, least) = (vdupq_n_f32(scale), vdupq_n_f32(127.0), vdupq_n_f32(-127.0));
        // Rounds halves to even.
        let ints = parts.map(|part| vcvtnq_s32_f32(vmaxq_f32(vminq_f32(vdivq_f32(part, by), most), least)));
        let sum = ints.into_iter().fold(vdupq_n_s32(0), |sum, ints| vaddq_s32(sum, ints));
        for (half, ints) in ints.as_chunks::<4>().0.iter().enumerate() {
            let words =
                [vmovn_high_s32(vmovn_s32(ints[0]), ints[1]), vmovn_high_s32(vmovn_s32(ints[2]), ints[3])];
            vst1q_s8(values.as_mut_ptr().add(16 * half), vmovn_high_s16(vmovn_s16(words[0]), words[1]));
        }
        (scale, vaddvq_s32(sum))
    }
}

/// Multiplies the `R` rows of a panel by a tile of 4 bits.
///
/// # Safety
/// `tile` must have as many blocks as the panel's rows, and `out` `R` rows; the processor must have `P`'s instructions.
pub(super) unsafe fn four<const R: usize, const OFFSETS: bool, P: Products>(
    tile: &[u8],
    panel: Panel<'_>,
    out: &mut [[f32; TILE]],
) {
    let scheme = const { if OFFSETS { Scheme::FourWithOffsets } else { Scheme::Four } };
    // SAFETY: the caller's promise.
    unsafe {
        let mut sums = [[vdupq_n_f32(0.0); 4]; R];
        for block in 0..panel.scales.len() / R {
            let at = tile.as_ptr().add(block * scheme.block_bytes());
            let products: [_; R] = P::four(at, columns(&panel, block));
            let scales = halves(at.add(scheme.value_bytes()));
            let offsets = halves(at.add(scheme.value_bytes() + if OFFSETS { 32 } else { 0 }));
            for row in 0..R {
                let x = block * R + row;
                let correction = vdupq_n_s32(panel.corrections[x]);
                for part in 0..4 {
                    let whole = vcvtq_f32_s32(vaddq_s32(products[row][part], correction));
                    let mut sum = vmulq_f32(scales[part], whole);
                    if OFFSETS {
                        sum = vfmaq_n_f32(sum, offsets[part], panel.sums[x]);
                    }
                    sums[row][part] = vfmaq_n_f32(sums[row][part], sum, panel.scales[x]);
                }
            }
        }
        for (out, sums) in out.iter_mut().zip(sums) {
            store(out, sums);
        }
    }
}

/// Multiplies the `R` rows of a panel by a tile of 8 bits.
///
/// # Safety
/// As for [`four`].
pub(super) unsafe fn eight<const R: usize, P: Products>(
    tile: &[u8],
    panel: Panel<'_>,
    out: &mut [[f32; TILE]],
) {
    // SAFETY: the caller's promise.
    unsafe {
        let mut sums = [[vdupq_n_f32(0.0); 4]; R];
        let mut at = tile.as_ptr();
        for block in 0..panel.scales.len() / R {
            let products: [_; R] = P::eight(at, columns(&panel, block));
            for row in 0..R {
                for part in 0..4 {
                    let whole = vcvtq_f32_s32(products[row][part]);
                    sums[row][part] = vfmaq_n_f32(sums[row][part], whole, panel.scales[block * R + row]);
                }
            }
            at = at.add(Scheme::Eight.block_bytes());
        }
        // Behind the blocks are 16 scales, aligned to nothing.
        let scales: Rows<_> = std::array::from_fn(|part| vreinterpretq_f32_u8(vld1q_u8(at.add(16 * part))));
        for (out, sums) in out.iter_mut().zip(sums) {
            store(out, std::array::from_fn(|part| vmulq_f32(scales[part], sums[part])));
        }
    }
}

/// A block of each row of x.
fn columns<const R: usize>(panel: &Panel<'_>, block: usize) -> [*const i8; R] {
    std::array::from_fn(|row| panel.values[block * R + row].as_ptr())
}

/// 16 half floats, as floats.
///
/// # Safety
/// They must be there.
#[inline(always)]
unsafe fn halves(at: *const u8) -> Rows<float32x4_t> {
    // SAFETY: the caller's promise.
    unsafe { std::array::from_fn(|part| vcvt_f32_f16(vreinterpret_f16_u8(vld1_u8(at.add(8 * part))))) }
}

#[inline(always)]
unsafe fn store(out: &mut [f32; TILE], sums: Rows<float32x4_t>) {
    for (part, sums) in sums.into_iter().enumerate() {
        // SAFETY: a tile is four vectors.
        unsafe { vst1q_f32(out.as_mut_ptr().add(4 * part), sums) };
    }
}
