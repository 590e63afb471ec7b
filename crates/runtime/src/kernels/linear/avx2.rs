//! AVX2 with FMA: a tile's rows are the lanes of two vectors.

use super::activations::Panel;
use crate::kernels::packed::{BLOCK, Scheme, TILE};
use std::arch::asm;
use std::arch::x86_64::*;

/// Quantises a block of x: gives its scale and the sum of its values.
#[target_feature(enable = "avx2,fma,f16c")]
pub(super) fn quantise(x: &[f32; BLOCK], values: &mut [i8; BLOCK]) -> (f32, i32) {
    let sign = _mm256_castsi256_ps(_mm256_set1_epi32(i32::MIN));
    let mut parts = [_mm256_setzero_ps(); 4];
    for (at, part) in parts.iter_mut().enumerate() {
        // SAFETY: a block is four vectors.
        *part = unsafe { _mm256_loadu_ps(x.as_ptr().add(8 * at)) };
    }
    // As whole numbers, so that NaNs are the largest ones.
    let bits = parts.map(|part| _mm256_castps_si256(_mm256_andnot_ps(sign, part)));
    let largest = _mm256_max_epi32(_mm256_max_epi32(bits[0], bits[1]), _mm256_max_epi32(bits[2], bits[3]));
    let largest = _mm_max_epi32(_mm256_castsi256_si128(largest), _mm256_extracti128_si256::<1>(largest));
    let largest = _mm_max_epi32(largest, _mm_shuffle_epi32::<0b01_00_11_10>(largest));
    let largest = _mm_max_epi32(largest, _mm_shuffle_epi32::<0b10_11_00_01>(largest));
    let largest = f32::from_bits(_mm_cvtsi128_si32(largest) as u32);
    let scale = largest / 127.0;
    if scale == 0.0 || !largest.is_finite() {
        *values = [0; BLOCK];
        return (if scale == 0.0 { 0.0 } else { f32::NAN }, 0);
    }
    let (by, most, least) = (_mm256_set1_ps(scale), _mm256_set1_ps(127.0), _mm256_set1_ps(-127.0));
    // Rounds halves to even.
    let ints = parts
        .map(|part| _mm256_cvtps_epi32(_mm256_max_ps(_mm256_min_ps(_mm256_div_ps(part, by), most), least)));
    let sum = _mm256_add_epi32(_mm256_add_epi32(ints[0], ints[1]), _mm256_add_epi32(ints[2], ints[3]));
    let halves = [_mm256_packs_epi32(ints[0], ints[1]), _mm256_packs_epi32(ints[2], ints[3])];
    // Packing goes by halves of a vector: dwords 0 2 4 6 and 1 3 5 7 of what is wanted.
    let bytes = _mm256_packs_epi16(halves[0], halves[1]);
    let bytes = _mm256_permutevar8x32_epi32(bytes, _mm256_setr_epi32(0, 4, 1, 5, 2, 6, 3, 7));
    // SAFETY: they are 32 bytes.
    unsafe { _mm256_storeu_si256(values.as_mut_ptr().cast(), bytes) };
    (scale, total(sum))
}

#[inline]
#[target_feature(enable = "avx2")]
fn total(sum: __m256i) -> i32 {
    let sum = _mm_add_epi32(_mm256_castsi256_si128(sum), _mm256_extracti128_si256::<1>(sum));
    let sum = _mm_add_epi32(sum, _mm_shuffle_epi32::<0b01_00_11_10>(sum));
    _mm_cvtsi128_si32(_mm_add_epi32(sum, _mm_shuffle_epi32::<0b10_11_00_01>(sum)))
}

/// Multiplies the `R` rows of a panel by a tile of 4 bits.
///
/// # Safety
/// `tile` must have as many blocks as the panel's rows, and `out` `R` rows.
#[target_feature(enable = "avx2,fma,f16c")]
pub(super) unsafe fn four<const R: usize, const OFFSETS: bool>(
    tile: &[u8],
    panel: Panel<'_>,
    out: &mut [[f32; TILE]],
) {
    let scheme = const { if OFFSETS { Scheme::FourWithOffsets } else { Scheme::Four } };
    let low = _mm256_set1_epi8(15);
    let ones = _mm256_set1_epi16(1);
    let mut sums = [[_mm256_setzero_ps(); 2]; R];
    for block in 0..panel.scales.len() / R {
        let at = tile.as_ptr().wrapping_add(block * scheme.block_bytes());
        // 8 products of a value of at most 15 by one of at most 127 fit into 16 bits, twice.
        let mut products = [[_mm256_setzero_si256(); 2]; R];
        let mut pair = 0;
        while pair < 4 {
            for half in 0..2 {
                // SAFETY: the tile has this block.
                let both = unsafe { _mm256_loadu_si256(at.add(64 * pair + 32 * half).cast()) };
                for (step, values) in [both, _mm256_srli_epi16::<4>(both)].into_iter().enumerate() {
                    let values = _mm256_and_si256(values, low);
                    for (row, products) in products.iter_mut().enumerate() {
                        // SAFETY: the panel has this block of each row.
                        let x = unsafe { columns(&panel, block * R + row, 2 * pair + step) };
                        products[half] = _mm256_add_epi16(products[half], _mm256_maddubs_epi16(values, x));
                    }
                }
            }
            pair = opaque(pair + 1);
        }
        for half in 0..2 {
            // SAFETY: behind the values are 16 scales, and 16 offsets if there are any.
            let [scale, offset] = unsafe {
                let scales = at.add(scheme.value_bytes() + 16 * half).cast::<__m128i>();
                let offsets = scales.add(if OFFSETS { 2 } else { 0 });
                [scales, offsets].map(|halves| _mm256_cvtph_ps(_mm_loadu_si128(halves)))
            };
            for (row, sums) in sums.iter_mut().enumerate() {
                let x = block * R + row;
                // SAFETY: the panel has this block of each row.
                let (by, sum_of_x, correction) = unsafe {
                    let correction = *panel.corrections.get_unchecked(x);
                    (*panel.scales.get_unchecked(x), *panel.sums.get_unchecked(x), correction)
                };
                let whole = _mm256_madd_epi16(products[row][half], ones);
                let whole = _mm256_add_epi32(whole, _mm256_set1_epi32(correction));
                let mut sum = _mm256_mul_ps(scale, _mm256_cvtepi32_ps(whole));
                if OFFSETS {
                    sum = _mm256_fmadd_ps(offset, _mm256_set1_ps(sum_of_x), sum);
                }
                sums[half] = _mm256_fmadd_ps(_mm256_set1_ps(by), sum, sums[half]);
            }
        }
    }
    for (out, sums) in out.iter_mut().zip(sums) {
        store(out, sums);
    }
}

/// Multiplies the `R` rows of a panel by a tile of 8 bits.
///
/// # Safety
/// As for [`four`].
#[target_feature(enable = "avx2,fma,f16c")]
pub(super) unsafe fn eight<const R: usize>(tile: &[u8], panel: Panel<'_>, out: &mut [[f32; TILE]]) {
    let zero = _mm256_set1_epi8(i8::MIN);
    let ones = _mm256_set1_epi16(1);
    let mut sums = [[_mm256_setzero_ps(); 2]; R];
    let mut at = tile.as_ptr();
    for block in 0..panel.scales.len() / R {
        let mut products = [[_mm256_setzero_si256(); 2]; R];
        let mut step = 0;
        while step < 8 {
            for half in 0..2 {
                // SAFETY: the tile has this block.
                let values = unsafe { _mm256_loadu_si256(at.add(64 * step + 32 * half).cast()) };
                // One of the factors has to be unsigned: it is the integer without its sign, which goes to x. Two
                // products of at most 128 by 127 fit into 16 bits.
                let ints = _mm256_xor_si256(values, zero);
                let values = _mm256_abs_epi8(ints);
                for (row, products) in products.iter_mut().enumerate() {
                    // SAFETY: the panel has this block of each row.
                    let x = unsafe { columns(&panel, block * R + row, step) };
                    let pairs = _mm256_maddubs_epi16(values, _mm256_sign_epi8(x, ints));
                    products[half] = _mm256_add_epi32(products[half], _mm256_madd_epi16(pairs, ones));
                }
            }
            step = opaque(step + 1);
        }
        for (row, sums) in sums.iter_mut().enumerate() {
            // SAFETY: the panel has this block of each row.
            let by = _mm256_set1_ps(unsafe { *panel.scales.get_unchecked(block * R + row) });
            for half in 0..2 {
                sums[half] = _mm256_fmadd_ps(by, _mm256_cvtepi32_ps(products[row][half]), sums[half]);
            }
        }
        at = at.wrapping_add(Scheme::Eight.block_bytes());
    }
    // SAFETY: behind the blocks are 16 scales.
    let scale = unsafe { [_mm256_loadu_ps(at.cast()), _mm256_loadu_ps(at.add(32).cast())] };
    for (out, sums) in out.iter_mut().zip(sums) {
        store(out, [_mm256_mul_ps(scale[0], sums[0]), _mm256_mul_ps(scale[1], sums[1])]);
    }
}

/// A number of which the compiler does not know what it is: so it leaves a loop a loop, where it would unroll it and then
/// keep more values at once than there are registers. That is worth a third of the speed.
#[inline]
fn opaque(number: usize) -> usize {
    let mut number = number;
    // SAFETY: it does nothing.
    unsafe { asm!("/* {0} */", inout(reg) number, options(pure, nomem, nostack, preserves_flags)) };
    number
}

/// The columns of a step of a block of x, for each row of the tile.
///
/// # Safety
/// The panel must have the block `x`.
#[inline]
#[target_feature(enable = "avx2")]
unsafe fn columns(panel: &Panel<'_>, x: usize, step: usize) -> __m256i {
    // SAFETY: the caller's promise; a block is 8 steps of 4 columns.
    unsafe {
        _mm256_set1_epi32(panel.values.get_unchecked(x).as_ptr().cast::<i32>().add(step).read_unaligned())
    }
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
