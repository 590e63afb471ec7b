//! AVX-512 with VNNI: a tile's rows are the lanes of a vector, and one instruction adds the products of 4 columns of each.

use super::activations::Panel;
use super::vnni256;
use crate::kernels::packed::{BLOCK, Scheme, TILE};
use std::arch::x86_64::*;

/// Quantises a block of x: gives its scale and the sum of its values.
#[target_feature(enable = "avx512f,avx512bw,avx512vl,avx512vnni")]
pub(super) fn quantise(x: &[f32; BLOCK], values: &mut [i8; BLOCK]) -> (f32, i32) {
    // SAFETY: a block is two vectors.
    let (low, high) = unsafe { (_mm512_loadu_ps(x.as_ptr()), _mm512_loadu_ps(x.as_ptr().add(16))) };
    // As whole numbers, so that NaNs are the largest ones.
    let bits = |x| _mm512_castps_si512(_mm512_abs_ps(x));
    let largest = f32::from_bits(_mm512_reduce_max_epi32(_mm512_max_epi32(bits(low), bits(high))) as u32);
    let scale = largest / 127.0;
    if scale == 0.0 || !largest.is_finite() {
        *values = [0; BLOCK];
        return (if scale == 0.0 { 0.0 } else { f32::NAN }, 0);
    }
    let by = _mm512_set1_ps(scale);
    // Rounds halves to even, and numbers too large become -2^31.
    let round = |x| {
        let quotient = _mm512_div_ps(x, by);
        let limited = _mm512_max_ps(_mm512_min_ps(quotient, _mm512_set1_ps(127.0)), _mm512_set1_ps(-127.0));
        _mm512_cvtps_epi32(limited)
    };
    let (low, high) = (round(low), round(high));
    let sum = _mm512_reduce_add_epi32(_mm512_add_epi32(low, high));
    let bytes = _mm256_set_m128i(_mm512_cvtepi32_epi8(high), _mm512_cvtepi32_epi8(low));
    // SAFETY: they are 32 bytes.
    unsafe { _mm256_storeu_si256(values.as_mut_ptr().cast(), bytes) };
    (scale, sum)
}

/// Multiplies the `R` rows of a panel by a tile of 4 bits.
///
/// # Safety
/// `tile` must have as many blocks as the panel's rows, and `out` `R` rows.
#[target_feature(enable = "avx512f,avx512bw,avx512vl,avx512vnni,avx2,fma,f16c")]
pub(super) unsafe fn four<const R: usize, const OFFSETS: bool>(
    tile: &[u8],
    panel: Panel<'_>,
    out: &mut [[f32; TILE]],
) {
    if R == 1 {
        // SAFETY: the caller's promise.
        return unsafe { vnni256::four::<OFFSETS>(tile, panel, out) };
    }
    let scheme = const { if OFFSETS { Scheme::FourWithOffsets } else { Scheme::Four } };
    let blocks = panel.scales.len() / R;
    let half = _mm512_set1_epi8(15);
    let mut sums = [_mm512_setzero_ps(); R];
    let mut at = tile.as_ptr();
    for block in 0..blocks {
        // SAFETY: the tile has this block.
        let (values, scale, offset) = unsafe {
            let mut values = [_mm512_setzero_si512(); 8];
            for pair in 0..4 {
                let both = _mm512_loadu_si512(at.add(64 * pair).cast());
                values[2 * pair] = _mm512_and_si512(both, half);
                values[2 * pair + 1] = _mm512_and_si512(_mm512_srli_epi16::<4>(both), half);
            }
            let halves = at.add(scheme.value_bytes()).cast::<__m256i>();
            let scale = _mm512_cvtph_ps(_mm256_loadu_si256(halves));
            let offset = if OFFSETS {
                _mm512_cvtph_ps(_mm256_loadu_si256(halves.add(1)))
            } else {
                _mm512_setzero_ps()
            };
            (values, scale, offset)
        };
        for (row, sums) in sums.iter_mut().enumerate() {
            // SAFETY: the panel has this block of each row.
            unsafe {
                let x = block * R + row;
                let products = dots(&values, &panel, x);
                let mut sum = _mm512_mul_ps(scale, _mm512_cvtepi32_ps(products));
                if OFFSETS {
                    sum = _mm512_fmadd_ps(offset, _mm512_set1_ps(*panel.sums.get_unchecked(x)), sum);
                }
                *sums = _mm512_fmadd_ps(_mm512_set1_ps(*panel.scales.get_unchecked(x)), sum, *sums);
            }
        }
        at = at.wrapping_add(scheme.block_bytes());
    }
    for (out, sum) in out.iter_mut().zip(sums) {
        // SAFETY: a tile is a vector.
        unsafe { _mm512_storeu_ps(out.as_mut_ptr(), sum) };
    }
}

/// Multiplies the `R` rows of a panel by a tile of 8 bits.
///
/// # Safety
/// As for [`four`].
#[target_feature(enable = "avx512f,avx512bw,avx512vl,avx512vnni,avx2,fma,f16c")]
pub(super) unsafe fn eight<const R: usize>(tile: &[u8], panel: Panel<'_>, out: &mut [[f32; TILE]]) {
    if R == 1 {
        // SAFETY: the caller's promise.
        return unsafe { vnni256::eight(tile, panel, out) };
    }
    let blocks = panel.scales.len() / R;
    let mut sums = [_mm512_setzero_ps(); R];
    let mut at = tile.as_ptr();
    for block in 0..blocks {
        let mut values = [_mm512_setzero_si512(); 8];
        for (step, values) in values.iter_mut().enumerate() {
            // SAFETY: the tile has this block.
            *values = unsafe { _mm512_loadu_si512(at.add(64 * step).cast()) };
        }
        for (row, sums) in sums.iter_mut().enumerate() {
            // SAFETY: the panel has this block of each row.
            unsafe {
                let x = block * R + row;
                let products = _mm512_cvtepi32_ps(dots(&values, &panel, x));
                *sums = _mm512_fmadd_ps(_mm512_set1_ps(*panel.scales.get_unchecked(x)), products, *sums);
            }
        }
        at = at.wrapping_add(Scheme::Eight.block_bytes());
    }
    // SAFETY: behind the blocks are 16 scales.
    let scale = unsafe { _mm512_loadu_ps(at.cast()) };
    for (out, sum) in out.iter_mut().zip(sums) {
        // SAFETY: a tile is a vector.
        unsafe { _mm512_storeu_ps(out.as_mut_ptr(), _mm512_mul_ps(scale, sum)) };
    }
}

/// The products of a block of x with the integers of a block of each row of the tile.
///
/// # Safety
/// The panel must have the block `x`.
#[inline]
#[target_feature(enable = "avx512f,avx512bw,avx512vl,avx512vnni")]
unsafe fn dots(values: &[__m512i; 8], panel: &Panel<'_>, x: usize) -> __m512i {
    // SAFETY: the caller's promise.
    let (mut sum, x) = unsafe {
        (
            _mm512_set1_epi32(*panel.corrections.get_unchecked(x)),
            panel.values.get_unchecked(x).as_ptr().cast::<i32>(),
        )
    };
    for (step, &values) in values.iter().enumerate() {
        // SAFETY: a block is 8 steps of 4 columns.
        let x = unsafe { x.add(step).read_unaligned() };
        sum = _mm512_dpbusd_epi32(sum, values, _mm512_set1_epi32(x));
    }
    sum
}
