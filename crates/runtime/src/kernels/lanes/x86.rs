//! What AVX2 and AVX-512 share.

#![allow(clippy::needless_range_loop, reason = "several arrays, of registers, are gone through at once")]

use std::arch::x86_64::*;

/// The sums of four rows of partial sums, as [`super::Lanes::parts_sum`] has them.
///
/// # Safety
/// The processor has AVX2.
#[inline(always)]
pub(super) unsafe fn sum_parts(parts: [__m256; 4]) -> [f32; 4] {
    // SAFETY: the caller's promise.
    unsafe {
        let mut folded = [_mm_setzero_ps(); 4];
        for (folded, parts) in folded.iter_mut().zip(parts) {
            *folded = _mm_add_ps(_mm256_castps256_ps128(parts), _mm256_extractf128_ps::<1>(parts));
        }
        let [low, high] = [_mm_unpacklo_ps(folded[0], folded[1]), _mm_unpackhi_ps(folded[0], folded[1])];
        let [low_too, high_too] =
            [_mm_unpacklo_ps(folded[2], folded[3]), _mm_unpackhi_ps(folded[2], folded[3])];
        let sum = _mm_add_ps(_mm_movelh_ps(low, low_too), _mm_movehl_ps(low_too, low));
        let sum = _mm_add_ps(sum, _mm_movelh_ps(high, high_too));
        let sum = _mm_add_ps(sum, _mm_movehl_ps(high_too, high));
        let mut sums = [0.0; 4];
        _mm_storeu_ps(sums.as_mut_ptr(), sum);
        sums
    }
}

/// Dot products of bytes from -127 to 127, of a row with four keys: `length` is a multiple of 16.
///
/// # Safety
/// The processor has AVX2; all are `length` long.
#[inline(always)]
pub(super) unsafe fn dots_with_four(row: *const i8, keys: [*const i8; 4], length: usize) -> __m128 {
    // SAFETY: the caller's promise.
    unsafe {
        let ones = _mm256_set1_epi16(1);
        let mut sums = [_mm256_setzero_si256(); 4];
        for at in (0..length).step_by(32) {
            let half = at + 32 > length;
            let query = load(row.add(at), half);
            let size = _mm256_abs_epi8(query);
            for (sum, key) in sums.iter_mut().zip(keys) {
                // Two products of 127 by 127 fit into 16 bits.
                let signed = _mm256_sign_epi8(load(key.add(at), half), query);
                let products = _mm256_maddubs_epi16(size, signed);
                *sum = _mm256_add_epi32(*sum, _mm256_madd_epi16(products, ones));
            }
        }
        let [a, b, c, d] = sums;
        let four = _mm256_hadd_epi32(_mm256_hadd_epi32(a, b), _mm256_hadd_epi32(c, d));
        let sum = _mm_add_epi32(_mm256_castsi256_si128(four), _mm256_extracti128_si256::<1>(four));
        _mm_cvtepi32_ps(sum)
    }
}

/// 32 bytes, or 16 and zeros.
#[inline(always)]
unsafe fn load(from: *const i8, half: bool) -> __m256i {
    // SAFETY: the caller's promise.
    unsafe {
        if half {
            return _mm256_zextsi128_si256(_mm_loadu_si128(from.cast()));
        }
        _mm256_loadu_si256(from.cast())
    }
}
