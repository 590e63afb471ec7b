//! The transform to 8x8 samples with AVX2: eight lanes of 16 bits, products and sums of 32.

use std::arch::x86_64::*;

use super::{CONST_BITS, PASS1_BITS, Square};

/// Says that the processor has AVX2: there is no other way to come by one.
#[derive(Clone, Copy)]
pub(in super::super) struct Avx2(());

impl Avx2 {
    pub(in super::super) fn detect() -> Option<Self> {
        is_x86_feature_detected!("avx2").then_some(Self(()))
    }
}

/// As [`super::to_eight`].
#[target_feature(enable = "avx2")]
#[inline]
pub(super) fn to_eight(coefficients: &[i16; 64], steps: &[u16; 64], mut out: Square<'_>) {
    let row = |at: usize| {
        let (coefficients, steps) = (coefficients.as_chunks::<8>().0, steps.as_chunks::<8>().0);
        // SAFETY: both point to eight values of 16 bits; no alignment is asked for.
        let (coefficients, steps) = unsafe {
            (_mm_loadu_si128(coefficients[at].as_ptr().cast()), _mm_loadu_si128(steps[at].as_ptr().cast()))
        };
        _mm_mullo_epi16(coefficients, steps)
    };
    let rows = [row(0), row(1), row(2), row(3), row(4), row(5), row(6), row(7)];
    const FIRST: i32 = (CONST_BITS - PASS1_BITS) as i32;
    const SECOND: i32 = (CONST_BITS + PASS1_BITS + 3) as i32;
    let columns = transposed(eight::<FIRST>(rows));
    let (low, high) =
        (columns.map(|two| _mm256_castsi256_si128(two)), columns.map(|two| _mm256_extracti128_si256(two, 1)));
    let columns = [low[0], low[1], low[2], low[3], high[0], high[1], high[2], high[3]];
    let rows = transposed(eight::<SECOND>(columns));
    // Rows 0, 1, 4, 5, then 2, 3, 6, 7.
    let centre = _mm256_set1_epi8(-128);
    let first = _mm256_xor_si256(_mm256_packs_epi16(rows[0], rows[1]), centre);
    let second = _mm256_xor_si256(_mm256_packs_epi16(rows[2], rows[3]), centre);
    out.set_row(0, _mm256_extract_epi64(first, 0).to_le_bytes());
    out.set_row(1, _mm256_extract_epi64(first, 1).to_le_bytes());
    out.set_row(2, _mm256_extract_epi64(second, 0).to_le_bytes());
    out.set_row(3, _mm256_extract_epi64(second, 1).to_le_bytes());
    out.set_row(4, _mm256_extract_epi64(first, 2).to_le_bytes());
    out.set_row(5, _mm256_extract_epi64(first, 3).to_le_bytes());
    out.set_row(6, _mm256_extract_epi64(second, 2).to_le_bytes());
    out.set_row(7, _mm256_extract_epi64(second, 3).to_le_bytes());
}

/// As [`super::eight`], descaled by `BITS`.
#[target_feature(enable = "avx2")]
#[inline]
fn eight<const BITS: i32>(x: [__m128i; 8]) -> [__m256i; 8] {
    // Even part.
    let x26 = pairs(x[2], x[6]);
    let tmp2 = products(x26, 4433, 4433 - 15137);
    let tmp3 = products(x26, 4433 + 6270, 4433);
    let tmp0 = widened(_mm_add_epi16(x[0], x[4]));
    let tmp1 = widened(_mm_sub_epi16(x[0], x[4]));
    let round = _mm256_set1_epi32(1 << (BITS - 1));
    let (tmp0, tmp1) = (_mm256_add_epi32(tmp0, round), _mm256_add_epi32(tmp1, round));
    let even = [
        _mm256_add_epi32(tmp0, tmp3),
        _mm256_add_epi32(tmp1, tmp2),
        _mm256_sub_epi32(tmp1, tmp2),
        _mm256_sub_epi32(tmp0, tmp3),
    ];
    // Odd part.
    let z34 = pairs(_mm_add_epi16(x[7], x[3]), _mm_add_epi16(x[5], x[1]));
    let z3 = products(z34, 9633 - 16069, 9633);
    let z4 = products(z34, 9633, 9633 - 3196);
    let (x71, x53) = (pairs(x[7], x[1]), pairs(x[5], x[3]));
    let odd = [
        _mm256_add_epi32(products(x71, -7373, 12299 - 7373), z4),
        _mm256_add_epi32(products(x53, -20995, 25172 - 20995), z3),
        _mm256_add_epi32(products(x53, 16819 - 20995, -20995), z4),
        _mm256_add_epi32(products(x71, 2446 - 7373, -7373), z3),
    ];
    let sum = |at: usize| _mm256_srai_epi32(_mm256_add_epi32(even[at], odd[at]), BITS);
    let difference = |at: usize| _mm256_srai_epi32(_mm256_sub_epi32(even[at], odd[at]), BITS);
    [sum(0), sum(1), sum(2), sum(3), difference(3), difference(2), difference(1), difference(0)]
}

/// Lanes of two vectors in turn.
#[target_feature(enable = "avx2")]
#[inline]
fn pairs(a: __m128i, b: __m128i) -> __m256i {
    _mm256_set_m128i(_mm_unpackhi_epi16(a, b), _mm_unpacklo_epi16(a, b))
}

/// The sum of each pair, times constants.
#[target_feature(enable = "avx2")]
#[inline]
fn products(pairs: __m256i, a: i16, b: i16) -> __m256i {
    let both = i32::from(b) << 16 | i32::from(a.cast_unsigned());
    _mm256_madd_epi16(pairs, _mm256_set1_epi32(both))
}

/// To 32 bits, with [`CONST_BITS`] fraction bits.
#[target_feature(enable = "avx2")]
#[inline]
fn widened(x: __m128i) -> __m256i {
    _mm256_slli_epi32(_mm256_cvtepi16_epi32(x), CONST_BITS as i32)
}

/// Eight rows of eight to 16 bits, saturated; then columns 0 and 4, 1 and 5, 2 and 6, 3 and 7.
#[target_feature(enable = "avx2")]
#[inline]
fn transposed(rows: [__m256i; 8]) -> [__m256i; 4] {
    // Half of each row is in either half of the vectors, so that no step crosses it.
    let pack = |at: usize| _mm256_packs_epi32(rows[at], rows[at + 1]);
    let [p01, p23, p45, p67] = [pack(0), pack(2), pack(4), pack(6)];
    let (r02, r13) = (_mm256_unpacklo_epi16(p01, p23), _mm256_unpackhi_epi16(p01, p23));
    let (r46, r57) = (_mm256_unpacklo_epi16(p45, p67), _mm256_unpackhi_epi16(p45, p67));
    let (top01, top23) = (_mm256_unpacklo_epi16(r02, r13), _mm256_unpackhi_epi16(r02, r13));
    let (bottom01, bottom23) = (_mm256_unpacklo_epi16(r46, r57), _mm256_unpackhi_epi16(r46, r57));
    [
        _mm256_unpacklo_epi64(top01, bottom01),
        _mm256_unpackhi_epi64(top01, bottom01),
        _mm256_unpacklo_epi64(top23, bottom23),
        _mm256_unpackhi_epi64(top23, bottom23),
    ]
}
