//! One row with VNNI on vectors of 256 bits: the arithmetic waits for memory in any case, and where that was measured (Zen
//! 4) it gives a few percent more to loads of 32 bytes than to those of 64.

use super::activations::Panel;
use crate::kernels::packed::{Scheme, TILE};
use std::arch::x86_64::*;

/// Multiplies a row by a tile of 4 bits.
///
/// # Safety
/// The panel must be of one row, `tile` have as many blocks, and `out` a row.
#[target_feature(enable = "avx2,fma,f16c,avx512vl,avx512vnni")]
pub(super) unsafe fn four<const OFFSETS: bool>(tile: &[u8], panel: Panel<'_>, out: &mut [[f32; TILE]]) {
    let scheme = const { if OFFSETS { Scheme::FourWithOffsets } else { Scheme::Four } };
    let low = _mm256_set1_epi8(15);
    let mut sums = [_mm256_setzero_ps(); 2];
    let mut at = tile.as_ptr();
    for (block, x) in panel.values.iter().enumerate() {
        let mut products = [_mm256_set1_epi32(panel.corrections[block]); 2];
        for pair in 0..4 {
            // SAFETY: a block is 8 steps of 4 columns.
            let x = unsafe { [columns(x.as_ptr(), 2 * pair), columns(x.as_ptr(), 2 * pair + 1)] };
            for (half, products) in products.iter_mut().enumerate() {
                // SAFETY: the tile has this block.
                let both = unsafe { _mm256_loadu_si256(at.add(64 * pair + 32 * half).cast()) };
                *products = _mm256_dpbusd_epi32(*products, _mm256_and_si256(both, low), x[0]);
                let high = _mm256_and_si256(_mm256_srli_epi16::<4>(both), low);
                *products = _mm256_dpbusd_epi32(*products, high, x[1]);
            }
        }
        for half in 0..2 {
            // SAFETY: behind the values are 16 scales, and 16 offsets if there are any.
            let [scale, offset] = unsafe {
                let scales = at.add(scheme.value_bytes() + 16 * half).cast::<__m128i>();
                let offsets = scales.add(if OFFSETS { 2 } else { 0 });
                [scales, offsets].map(|halves| _mm256_cvtph_ps(_mm_loadu_si128(halves)))
            };
            let mut sum = _mm256_mul_ps(scale, _mm256_cvtepi32_ps(products[half]));
            if OFFSETS {
                sum = _mm256_fmadd_ps(offset, _mm256_set1_ps(panel.sums[block]), sum);
            }
            sums[half] = _mm256_fmadd_ps(_mm256_set1_ps(panel.scales[block]), sum, sums[half]);
        }
        at = at.wrapping_add(scheme.block_bytes());
    }
    store(&mut out[0], sums);
}

/// Multiplies a row by a tile of 8 bits.
///
/// # Safety
/// As for [`four`].
#[target_feature(enable = "avx2,fma,f16c,avx512vl,avx512vnni")]
pub(super) unsafe fn eight(tile: &[u8], panel: Panel<'_>, out: &mut [[f32; TILE]]) {
    let mut sums = [_mm256_setzero_ps(); 2];
    let mut at = tile.as_ptr();
    for (block, x) in panel.values.iter().enumerate() {
        let mut products = [_mm256_set1_epi32(panel.corrections[block]); 2];
        for step in 0..8 {
            // SAFETY: a block is 8 steps of 4 columns, and the tile has this one.
            unsafe {
                let x = columns(x.as_ptr(), step);
                for (half, products) in products.iter_mut().enumerate() {
                    let values = _mm256_loadu_si256(at.add(64 * step + 32 * half).cast());
                    *products = _mm256_dpbusd_epi32(*products, values, x);
                }
            }
        }
        for half in 0..2 {
            let whole = _mm256_cvtepi32_ps(products[half]);
            sums[half] = _mm256_fmadd_ps(_mm256_set1_ps(panel.scales[block]), whole, sums[half]);
        }
        at = at.wrapping_add(Scheme::Eight.block_bytes());
    }
    // SAFETY: behind the blocks are 16 scales.
    let scales = unsafe { [_mm256_loadu_ps(at.cast()), _mm256_loadu_ps(at.add(32).cast())] };
    store(&mut out[0], [_mm256_mul_ps(scales[0], sums[0]), _mm256_mul_ps(scales[1], sums[1])]);
}

/// The columns of a step, for each row of the tile.
///
/// # Safety
/// They must be there.
#[inline]
#[target_feature(enable = "avx2")]
unsafe fn columns(x: *const i8, step: usize) -> __m256i {
    // SAFETY: the caller's promise.
    unsafe { _mm256_set1_epi32(x.cast::<i32>().add(step).read_unaligned()) }
}

#[inline]
#[target_feature(enable = "avx2")]
fn store(out: &mut [f32; TILE], sums: [__m256; 2]) {
    // SAFETY: a tile is two vectors.
    unsafe {
        _mm256_storeu_ps(out.as_mut_ptr(), sums[0]);
        _mm256_storeu_ps(out.as_mut_ptr().add(8), sums[1]);
    }
}
