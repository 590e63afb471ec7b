//! AVX2 with FMA and F16C: eight floats.

#![allow(clippy::needless_range_loop, reason = "several arrays, of registers, are gone through at once")]

use super::{Lanes, x86};
use std::arch::x86_64::*;

/// AVX2 with FMA and F16C: eight floats.
#[derive(Clone, Copy)]
pub(in crate::kernels) struct Avx2;

impl Lanes for Avx2 {
    const LANES: usize = 8;
    const PACKED: [usize; 2] = [2, 2];
    const ROWS: usize = 2;
    const COLUMNS: usize = 2;
    type F = __m256;
    type Parts = __m256;

    #[inline(always)]
    unsafe fn splat(x: f32) -> Self::F {
        // SAFETY: the caller's promise.
        unsafe { _mm256_set1_ps(x) }
    }

    #[inline(always)]
    unsafe fn load(from: *const f32) -> Self::F {
        // SAFETY: the caller's promise.
        unsafe { _mm256_loadu_ps(from) }
    }

    #[inline(always)]
    unsafe fn store(to: *mut f32, x: Self::F) {
        // SAFETY: the caller's promise.
        unsafe { _mm256_storeu_ps(to, x) }
    }

    #[inline(always)]
    unsafe fn add(a: Self::F, b: Self::F) -> Self::F {
        // SAFETY: the caller's promise.
        unsafe { _mm256_add_ps(a, b) }
    }

    #[inline(always)]
    unsafe fn sub(a: Self::F, b: Self::F) -> Self::F {
        // SAFETY: the caller's promise.
        unsafe { _mm256_sub_ps(a, b) }
    }

    #[inline(always)]
    unsafe fn mul(a: Self::F, b: Self::F) -> Self::F {
        // SAFETY: the caller's promise.
        unsafe { _mm256_mul_ps(a, b) }
    }

    #[inline(always)]
    unsafe fn div(a: Self::F, b: Self::F) -> Self::F {
        // SAFETY: the caller's promise.
        unsafe { _mm256_div_ps(a, b) }
    }

    #[inline(always)]
    unsafe fn max(a: Self::F, b: Self::F) -> Self::F {
        // SAFETY: the caller's promise.
        unsafe { _mm256_max_ps(a, b) }
    }

    #[inline(always)]
    unsafe fn min(a: Self::F, b: Self::F) -> Self::F {
        // SAFETY: the caller's promise.
        unsafe { _mm256_min_ps(a, b) }
    }

    #[inline(always)]
    unsafe fn fma(a: Self::F, b: Self::F, c: Self::F) -> Self::F {
        // SAFETY: the caller's promise.
        unsafe { _mm256_fmadd_ps(a, b, c) }
    }

    #[inline(always)]
    unsafe fn abs(x: Self::F) -> Self::F {
        // SAFETY: the caller's promise.
        unsafe { _mm256_andnot_ps(_mm256_set1_ps(-0.0), x) }
    }

    #[inline(always)]
    unsafe fn if_below(x: Self::F, limit: f32, yes: Self::F, no: Self::F) -> Self::F {
        // SAFETY: the caller's promise.
        unsafe { _mm256_blendv_ps(no, yes, _mm256_cmp_ps::<_CMP_LT_OQ>(x, _mm256_set1_ps(limit))) }
    }

    #[inline(always)]
    unsafe fn power_of_two(shifted: Self::F) -> Self::F {
        // SAFETY: the caller's promise.
        unsafe {
            let exponent = _mm256_slli_epi32::<23>(_mm256_castps_si256(shifted));
            _mm256_castsi256_ps(_mm256_add_epi32(exponent, _mm256_castps_si256(_mm256_set1_ps(1.0))))
        }
    }

    #[inline(always)]
    unsafe fn sum(x: Self::F) -> f32 {
        // SAFETY: the caller's promise.
        unsafe {
            let four = _mm_add_ps(_mm256_castps256_ps128(x), _mm256_extractf128_ps::<1>(x));
            let two = _mm_add_ps(four, _mm_movehl_ps(four, four));
            _mm_cvtss_f32(_mm_add_ss(two, _mm_movehdup_ps(two)))
        }
    }

    #[inline(always)]
    unsafe fn largest(x: Self::F) -> f32 {
        // SAFETY: the caller's promise.
        unsafe {
            let four = _mm_max_ps(_mm256_castps256_ps128(x), _mm256_extractf128_ps::<1>(x));
            let two = _mm_max_ps(four, _mm_movehl_ps(four, four));
            _mm_cvtss_f32(_mm_max_ss(two, _mm_movehdup_ps(two)))
        }
    }

    #[inline(always)]
    unsafe fn load_f16(from: *const u16) -> Self::F {
        // SAFETY: the caller's promise.
        unsafe { _mm256_cvtph_ps(_mm_loadu_si128(from.cast())) }
    }

    #[inline(always)]
    unsafe fn store_f16(to: *mut u16, x: Self::F) {
        // SAFETY: the caller's promise.
        unsafe { _mm_storeu_si128(to.cast(), _mm256_cvtps_ph::<_MM_FROUND_TO_NEAREST_INT>(x)) }
    }

    #[inline(always)]
    unsafe fn load_i8(from: *const i8) -> Self::F {
        // SAFETY: the caller's promise.
        unsafe { _mm256_cvtepi32_ps(_mm256_cvtepi8_epi32(_mm_loadl_epi64(from.cast()))) }
    }

    #[inline(always)]
    unsafe fn store_i8(to: *mut i8, x: Self::F) {
        // SAFETY: the caller's promise.
        unsafe {
            let words = _mm256_cvtps_epi32(x);
            let halves = _mm_packs_epi32(_mm256_castsi256_si128(words), _mm256_extracti128_si256::<1>(words));
            _mm_storel_epi64(to.cast(), _mm_packs_epi16(halves, halves));
        }
    }

    #[inline(always)]
    unsafe fn parts_zero() -> Self::Parts {
        // SAFETY: the caller's promise.
        unsafe { _mm256_setzero_ps() }
    }

    #[inline(always)]
    unsafe fn parts_load(from: *const f32) -> Self::Parts {
        // SAFETY: the caller's promise.
        unsafe { _mm256_loadu_ps(from) }
    }

    #[inline(always)]
    unsafe fn parts_load_f16(from: *const u16) -> Self::Parts {
        // SAFETY: the caller's promise.
        unsafe { _mm256_cvtph_ps(_mm_loadu_si128(from.cast())) }
    }

    #[inline(always)]
    unsafe fn parts_fma(a: Self::Parts, b: Self::Parts, c: Self::Parts) -> Self::Parts {
        // SAFETY: the caller's promise.
        unsafe { _mm256_fmadd_ps(a, b, c) }
    }

    #[inline(always)]
    unsafe fn parts_sum(parts: [Self::Parts; 4]) -> [f32; 4] {
        // SAFETY: the caller's promise.
        unsafe { x86::sum_parts(parts) }
    }

    #[inline(always)]
    unsafe fn transpose(from: *const f32, stride: usize, to: impl Fn(usize) -> *mut f32) {
        // SAFETY: the caller's promise.
        unsafe {
            let mut rows = [_mm256_setzero_ps(); 8];
            for (row, lanes) in rows.iter_mut().enumerate() {
                *lanes = _mm256_loadu_ps(from.add(row * stride));
            }
            let mut pairs = rows;
            for at in 0..4 {
                pairs[2 * at] = _mm256_unpacklo_ps(rows[2 * at], rows[2 * at + 1]);
                pairs[2 * at + 1] = _mm256_unpackhi_ps(rows[2 * at], rows[2 * at + 1]);
            }
            // Columns 0 to 3 of four rows, with 4 to 7 in the upper half.
            let mut fours = rows;
            for at in [0, 4] {
                fours[at] = _mm256_shuffle_ps::<0x44>(pairs[at], pairs[at + 2]);
                fours[at + 1] = _mm256_shuffle_ps::<0xee>(pairs[at], pairs[at + 2]);
                fours[at + 2] = _mm256_shuffle_ps::<0x44>(pairs[at + 1], pairs[at + 3]);
                fours[at + 3] = _mm256_shuffle_ps::<0xee>(pairs[at + 1], pairs[at + 3]);
            }
            for column in 0..4 {
                let (early, late) = (fours[column], fours[column + 4]);
                _mm256_storeu_ps(to(column), _mm256_permute2f128_ps::<0x20>(early, late));
                _mm256_storeu_ps(to(column + 4), _mm256_permute2f128_ps::<0x31>(early, late));
            }
        }
    }

    #[inline(always)]
    unsafe fn dots_i8<const R: usize>(
        rows: [*const i8; R],
        keys: *const i8,
        count: usize,
        length: usize,
        out: [*mut f32; R],
    ) {
        // SAFETY: the caller's promise.
        unsafe {
            for key in (0..count).step_by(4) {
                let mut four = [keys; 4];
                for (at, pointer) in four.iter_mut().enumerate() {
                    *pointer = keys.add((key + at).min(count - 1) * length);
                }
                for row in 0..R {
                    _mm_storeu_ps(out[row].add(key), x86::dots_with_four(rows[row], four, length));
                }
            }
        }
    }
}
