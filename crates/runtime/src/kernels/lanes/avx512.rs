//! AVX-512 F, BW, VL and VNNI: sixteen floats.

#![allow(clippy::needless_range_loop, reason = "several arrays, of registers, are gone through at once")]

use super::{Lanes, x86};
use std::arch::x86_64::*;

/// How many bytes ahead bytes are asked for: they come by once, in order.
const AHEAD: usize = 4096;

/// AVX-512 F, BW, VL and VNNI, beside what [`super::Avx2`] has: sixteen floats.
#[derive(Clone, Copy)]
pub(in crate::kernels) struct Avx512;

impl Lanes for Avx512 {
    const LANES: usize = 16;
    const PACKED: [usize; 2] = [4, 2];
    const ROWS: usize = 4;
    const COLUMNS: usize = 4;
    const WHOLE_WEIGHTS: bool = true;
    type F = __m512;
    type Parts = __m256;

    #[inline(always)]
    unsafe fn splat(x: f32) -> Self::F {
        // SAFETY: the caller's promise.
        unsafe { _mm512_set1_ps(x) }
    }

    #[inline(always)]
    unsafe fn load(from: *const f32) -> Self::F {
        // SAFETY: the caller's promise.
        unsafe { _mm512_loadu_ps(from) }
    }

    #[inline(always)]
    unsafe fn store(to: *mut f32, x: Self::F) {
        // SAFETY: the caller's promise.
        unsafe { _mm512_storeu_ps(to, x) }
    }

    #[inline(always)]
    unsafe fn add(a: Self::F, b: Self::F) -> Self::F {
        // SAFETY: the caller's promise.
        unsafe { _mm512_add_ps(a, b) }
    }

    #[inline(always)]
    unsafe fn sub(a: Self::F, b: Self::F) -> Self::F {
        // SAFETY: the caller's promise.
        unsafe { _mm512_sub_ps(a, b) }
    }

    #[inline(always)]
    unsafe fn mul(a: Self::F, b: Self::F) -> Self::F {
        // SAFETY: the caller's promise.
        unsafe { _mm512_mul_ps(a, b) }
    }

    #[inline(always)]
    unsafe fn div(a: Self::F, b: Self::F) -> Self::F {
        // SAFETY: the caller's promise.
        unsafe { _mm512_div_ps(a, b) }
    }

    #[inline(always)]
    unsafe fn max(a: Self::F, b: Self::F) -> Self::F {
        // SAFETY: the caller's promise.
        unsafe { _mm512_max_ps(a, b) }
    }

    #[inline(always)]
    unsafe fn min(a: Self::F, b: Self::F) -> Self::F {
        // SAFETY: the caller's promise.
        unsafe { _mm512_min_ps(a, b) }
    }

    #[inline(always)]
    unsafe fn fma(a: Self::F, b: Self::F, c: Self::F) -> Self::F {
        // SAFETY: the caller's promise.
        unsafe { _mm512_fmadd_ps(a, b, c) }
    }

    #[inline(always)]
    unsafe fn abs(x: Self::F) -> Self::F {
        // SAFETY: the caller's promise.
        unsafe { _mm512_abs_ps(x) }
    }

    #[inline(always)]
    unsafe fn if_below(x: Self::F, limit: f32, yes: Self::F, no: Self::F) -> Self::F {
        // SAFETY: the caller's promise.
        unsafe { _mm512_mask_blend_ps(_mm512_cmp_ps_mask::<_CMP_LT_OQ>(x, _mm512_set1_ps(limit)), no, yes) }
    }

    #[inline(always)]
    unsafe fn power_of_two(shifted: Self::F) -> Self::F {
        // SAFETY: the caller's promise.
        unsafe {
            let exponent = _mm512_slli_epi32::<23>(_mm512_castps_si512(shifted));
            _mm512_castsi512_ps(_mm512_add_epi32(exponent, _mm512_castps_si512(_mm512_set1_ps(1.0))))
        }
    }

    /// `2^f` on half a number around 0 is a polynomial that was fitted for the smallest relative error, 1.6e-7.
    #[inline(always)]
    unsafe fn exp_of_negative(x: Self::F) -> Self::F {
        // SAFETY: the caller's promise.
        unsafe {
            let log = _mm512_set1_ps(std::f32::consts::LOG2_E);
            let whole = _mm512_roundscale_ps::<_MM_FROUND_TO_NEAREST_INT>(_mm512_mul_ps(x, log));
            // What LOG2_E lacks of the logarithm.
            let rest = _mm512_mul_ps(x, _mm512_set1_ps(1.925_963e-8));
            let rest = _mm512_add_ps(_mm512_fmsub_ps(x, log, whole), rest);
            let mut power = _mm512_set1_ps(1.327_647_1e-3);
            for factor in [9.675_541e-3, 5.550_713e-2, 0.240_221_2, 0.693_146_94, 1.0] {
                power = _mm512_fmadd_ps(power, rest, _mm512_set1_ps(factor));
            }
            // Not below, so that what is no number stays none.
            let kept = _mm512_cmp_ps_mask::<_CMP_NLT_UQ>(x, _mm512_set1_ps(-87.3));
            _mm512_maskz_scalef_ps(kept, power, whole)
        }
    }

    #[inline(always)]
    unsafe fn sum(x: Self::F) -> f32 {
        // SAFETY: the caller's promise.
        unsafe { _mm512_reduce_add_ps(x) }
    }

    #[inline(always)]
    unsafe fn largest(x: Self::F) -> f32 {
        // SAFETY: the caller's promise.
        unsafe { _mm512_reduce_max_ps(x) }
    }

    #[inline(always)]
    unsafe fn load_f16(from: *const u16) -> Self::F {
        // SAFETY: the caller's promise.
        unsafe { _mm512_cvtph_ps(_mm256_loadu_si256(from.cast())) }
    }

    #[inline(always)]
    unsafe fn store_f16(to: *mut u16, x: Self::F) {
        // SAFETY: the caller's promise.
        unsafe { _mm256_storeu_si256(to.cast(), _mm512_cvtps_ph::<_MM_FROUND_TO_NEAREST_INT>(x)) }
    }

    #[inline(always)]
    unsafe fn load_i8(from: *const i8) -> Self::F {
        // SAFETY: the caller's promise.
        unsafe { _mm512_cvtepi32_ps(_mm512_cvtepi8_epi32(_mm_loadu_si128(from.cast()))) }
    }

    #[inline(always)]
    unsafe fn store_i8(to: *mut i8, x: Self::F) {
        // SAFETY: the caller's promise.
        unsafe { _mm_storeu_si128(to.cast(), _mm512_cvtsepi32_epi8(_mm512_cvtps_epi32(x))) }
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
            let mut rows = [_mm512_setzero_ps(); 16];
            for (row, lanes) in rows.iter_mut().enumerate() {
                *lanes = _mm512_loadu_ps(from.add(row * stride));
            }
            // Four rows at a time, within each quarter: columns 0, 1, 2 and 3 of it.
            for at in [0, 4, 8, 12] {
                let [a, b] = [0, 2].map(|pair| _mm512_unpacklo_ps(rows[at + pair], rows[at + pair + 1]));
                let [c, d] = [0, 2].map(|pair| _mm512_unpackhi_ps(rows[at + pair], rows[at + pair + 1]));
                rows[at] = _mm512_shuffle_ps::<0x44>(a, b);
                rows[at + 1] = _mm512_shuffle_ps::<0xee>(a, b);
                rows[at + 2] = _mm512_shuffle_ps::<0x44>(c, d);
                rows[at + 3] = _mm512_shuffle_ps::<0xee>(c, d);
            }
            // Then the quarters.
            for column in 0..4 {
                let [a, b, c, d] = [0, 4, 8, 12].map(|at| rows[at + column]);
                let [low, high] = [_mm512_shuffle_f32x4::<0x44>(a, b), _mm512_shuffle_f32x4::<0x44>(c, d)];
                _mm512_storeu_ps(to(column), _mm512_shuffle_f32x4::<0x88>(low, high));
                _mm512_storeu_ps(to(column + 4), _mm512_shuffle_f32x4::<0xdd>(low, high));
                let [low, high] = [_mm512_shuffle_f32x4::<0xee>(a, b), _mm512_shuffle_f32x4::<0xee>(c, d)];
                _mm512_storeu_ps(to(column + 8), _mm512_shuffle_f32x4::<0x88>(low, high));
                _mm512_storeu_ps(to(column + 12), _mm512_shuffle_f32x4::<0xdd>(low, high));
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
            let zero = _mm512_setzero_si512();
            // Of the 128 that is added to each element of a key.
            let mut surplus = [0; R];
            for row in 0..R {
                let mut sums = zero;
                for at in (0..length).step_by(64) {
                    let query = load_bytes(rows[row].add(at), length - at);
                    sums = _mm512_dpbusd_epi32(sums, _mm512_set1_epi8(-128), query);
                }
                surplus[row] = _mm512_reduce_add_epi32(sums);
            }
            for key in (0..count).step_by(16) {
                let mut sums = [[zero; 4]; R];
                for at in (0..length).step_by(64) {
                    let mut queries = [[zero; 4]; R];
                    for row in 0..R {
                        queries[row] = quarters(load_bytes(rows[row].add(at), length - at));
                    }
                    for four in 0..4 {
                        let mut lines = [zero; 4];
                        for (line, bytes) in lines.iter_mut().enumerate() {
                            let which = (key + 4 * four + line).min(count - 1);
                            let key = keys.add(which * length + at);
                            _mm_prefetch::<_MM_HINT_T0>(key.wrapping_add(AHEAD));
                            let signed = load_bytes(key, length - at);
                            *bytes = _mm512_xor_si512(signed, _mm512_set1_epi8(-128));
                        }
                        let columns = transpose_quarters(lines);
                        for row in 0..R {
                            for column in 0..4 {
                                let sum = sums[row][four];
                                sums[row][four] =
                                    _mm512_dpbusd_epi32(sum, columns[column], queries[row][column]);
                            }
                        }
                    }
                }
                for row in 0..R {
                    let sum = _mm512_sub_epi32(sum_quarters(sums[row]), _mm512_set1_epi32(surplus[row]));
                    _mm512_storeu_ps(out[row].add(key), _mm512_cvtepi32_ps(sum));
                }
            }
        }
    }

    #[inline(always)]
    unsafe fn store_i16(to: *mut i16, x: Self::F) {
        // SAFETY: the caller's promise.
        unsafe { _mm256_storeu_si256(to.cast(), _mm512_cvtsepi32_epi16(_mm512_cvtps_epi32(x))) }
    }

    #[inline(always)]
    unsafe fn mix_i8<const R: usize>(
        weights: [*const i16; R],
        steps: [f32; R],
        values: *const i8,
        count: usize,
        length: usize,
        out: *mut f32,
    ) {
        // SAFETY: the caller's promise.
        unsafe {
            let mut at = 0;
            while at + 64 <= length {
                mix_columns::<R, 2>(weights, steps, values, count, length, out, at);
                at += 64;
            }
            while at < length {
                mix_columns::<R, 1>(weights, steps, values, count, length, out, at);
                at += 32;
            }
        }
    }
}

/// Of `V` times 32 columns from `at` on, or of the last 16.
#[inline(always)]
unsafe fn mix_columns<const R: usize, const V: usize>(
    weights: [*const i16; R],
    steps: [f32; R],
    values: *const i8,
    count: usize,
    length: usize,
    out: *mut f32,
    at: usize,
) {
    // SAFETY: the caller's promise; behind the last weight is a 0, for which any value will do.
    unsafe {
        let mut sums = [[[_mm512_setzero_si512(); 2]; V]; R];
        for slot in (0..count).step_by(2) {
            let line = values.add(slot * length + at);
            let next = if slot + 1 < count { line.add(length) } else { line };
            _mm_prefetch::<_MM_HINT_T0>(line.wrapping_add(AHEAD));
            _mm_prefetch::<_MM_HINT_T0>(next.wrapping_add(AHEAD));
            let mut pairs = [[_mm512_setzero_si512(); 2]; V];
            for part in 0..V {
                let left = length - at - 32 * part;
                let (one, two) =
                    (load_words(line.add(32 * part), left), load_words(next.add(32 * part), left));
                pairs[part] = [_mm512_unpacklo_epi16(one, two), _mm512_unpackhi_epi16(one, two)];
            }
            for row in 0..R {
                let weight = _mm512_set1_epi32(weights[row].add(slot).cast::<i32>().read_unaligned());
                for part in 0..V {
                    for half in 0..2 {
                        let sum = sums[row][part][half];
                        sums[row][part][half] = add_products(sum, weight, pairs[part][half]);
                    }
                }
            }
        }
        // Words 0 to 3 of each quarter's eight are in the first sum, 4 to 7 in the second.
        let early = _mm512_setr_epi32(0, 1, 2, 3, 16, 17, 18, 19, 4, 5, 6, 7, 20, 21, 22, 23);
        let late = _mm512_setr_epi32(8, 9, 10, 11, 24, 25, 26, 27, 12, 13, 14, 15, 28, 29, 30, 31);
        for row in 0..R {
            for part in 0..V {
                let [a, b] = sums[row][part];
                let to = out.add(row * length + at + 32 * part);
                let step = _mm512_set1_ps(steps[row]);
                let sum = _mm512_cvtepi32_ps(_mm512_permutex2var_epi32(a, early, b));
                _mm512_storeu_ps(to, _mm512_fmadd_ps(sum, step, _mm512_loadu_ps(to)));
                if length - at - 32 * part > 16 {
                    let to = to.add(16);
                    let sum = _mm512_cvtepi32_ps(_mm512_permutex2var_epi32(a, late, b));
                    _mm512_storeu_ps(to, _mm512_fmadd_ps(sum, step, _mm512_loadu_ps(to)));
                }
            }
        }
    }
}

/// `_mm512_dpwssd_epi32`, which the compiler takes apart into two instructions.
#[inline]
#[target_feature(enable = "avx512f,avx512vnni")]
unsafe fn add_products(mut sum: __m512i, a: __m512i, b: __m512i) -> __m512i {
    // SAFETY: the caller's promise; it touches registers only.
    unsafe {
        std::arch::asm!(
            "vpdpwssd {sum}, {a}, {b}",
            sum = inout(zmm_reg) sum,
            a = in(zmm_reg) a,
            b = in(zmm_reg) b,
            options(pure, nomem, nostack, preserves_flags)
        );
    }
    sum
}

/// 32 bytes as words, or 16 and zeros.
#[inline(always)]
unsafe fn load_words(from: *const i8, left: usize) -> __m512i {
    // SAFETY: the caller's promise; no byte past `left` is read.
    unsafe {
        if left >= 32 {
            return _mm512_cvtepi8_epi16(_mm256_loadu_si256(from.cast()));
        }
        _mm512_cvtepi8_epi16(_mm256_zextsi128_si256(_mm_loadu_si128(from.cast())))
    }
}

/// The first `left` bytes, 64 at most, and zeros.
#[inline(always)]
unsafe fn load_bytes(from: *const i8, left: usize) -> __m512i {
    // SAFETY: the caller's promise; no byte past `left` is read.
    unsafe {
        if left >= 64 {
            return _mm512_loadu_si512(from.cast());
        }
        _mm512_maskz_loadu_epi8((1 << left) - 1, from)
    }
}

/// Each of the four words of a quarter, in all four places of it.
#[inline(always)]
unsafe fn quarters(x: __m512i) -> [__m512i; 4] {
    // SAFETY: the caller's promise.
    unsafe {
        [
            _mm512_shuffle_epi32::<0x00>(x),
            _mm512_shuffle_epi32::<0x55>(x),
            _mm512_shuffle_epi32::<0xaa>(x),
            _mm512_shuffle_epi32::<0xff>(x),
        ]
    }
}

/// Turns the words of each quarter of four lines on their side.
#[inline(always)]
unsafe fn transpose_quarters(lines: [__m512i; 4]) -> [__m512i; 4] {
    // SAFETY: the caller's promise.
    unsafe {
        let [a, b, c, d] = lines;
        let [low, high] = [_mm512_unpacklo_epi32(a, b), _mm512_unpackhi_epi32(a, b)];
        let [low_too, high_too] = [_mm512_unpacklo_epi32(c, d), _mm512_unpackhi_epi32(c, d)];
        [
            _mm512_unpacklo_epi64(low, low_too),
            _mm512_unpackhi_epi64(low, low_too),
            _mm512_unpacklo_epi64(high, high_too),
            _mm512_unpackhi_epi64(high, high_too),
        ]
    }
}

/// The sums of each vector's quarters, one vector after the other.
#[inline(always)]
unsafe fn sum_quarters(x: [__m512i; 4]) -> __m512i {
    // SAFETY: the caller's promise.
    unsafe {
        let even = |a, b| _mm512_shuffle_i32x4::<0x88>(a, b);
        let odd = |a, b| _mm512_shuffle_i32x4::<0xdd>(a, b);
        let low = _mm512_add_epi32(even(x[0], x[1]), odd(x[0], x[1]));
        let high = _mm512_add_epi32(even(x[2], x[3]), odd(x[2], x[3]));
        _mm512_add_epi32(even(low, high), odd(low, high))
    }
}
