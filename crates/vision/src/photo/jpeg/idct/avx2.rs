//! The transforms with AVX2: eight lanes of 16 bits, products and sums of 32.

use std::arch::x86_64::*;
use std::num::Wrapping;

use super::{CONST_BITS, PASS1_BITS, Square, sample};

/// A row of coefficients, times their steps.
#[target_feature(enable = "avx2")]
#[inline]
fn dequantised(coefficients: &[i16; 64], steps: &[u16; 64], row: usize) -> __m128i {
    let (coefficients, steps) = (&coefficients.as_chunks::<8>().0[row], &steps.as_chunks::<8>().0[row]);
    // SAFETY: both are eight values of 16 bits; no alignment is asked for.
    let (coefficients, steps) =
        unsafe { (_mm_loadu_si128(coefficients.as_ptr().cast()), _mm_loadu_si128(steps.as_ptr().cast())) };
    _mm_mullo_epi16(coefficients, steps)
}

/// As [`super::to_two`].
#[target_feature(enable = "avx2")]
#[inline]
pub(in super::super) fn to_two(coefficients: &[i16; 64], steps: &[u16; 64], mut out: Square<'_>) {
    const FIRST: i32 = (CONST_BITS - PASS1_BITS + 2) as i32;
    const SECOND: usize = CONST_BITS + PASS1_BITS + 3 + 2;
    let row = |at: usize| dequantised(coefficients, steps, at);
    let even = widened::<{ CONST_BITS as i32 + 2 }>(row(0));
    let even = _mm256_add_epi32(even, _mm256_set1_epi32(1 << (FIRST - 1)));
    let odd = _mm256_add_epi32(
        products(pairs(row(1), row(5)), 29692, 6967),
        products(pairs(row(3), row(7)), -10426, -5906),
    );
    let top = _mm256_srai_epi32(_mm256_add_epi32(even, odd), FIRST);
    let bottom = _mm256_srai_epi32(_mm256_sub_epi32(even, odd), FIRST);
    // The first four of the top row and of the bottom row, then the last four of either.
    let both = _mm256_packs_epi32(top, bottom);
    let factors =
        _mm256_setr_epi16(0, 29692, 0, -10426, 0, 29692, 0, -10426, 0, 6967, 0, -5906, 0, 6967, 0, -5906);
    let odd = _mm256_madd_epi16(both, factors);
    let odd = _mm_add_epi32(_mm256_castsi256_si128(odd), _mm256_extracti128_si256(odd, 1));
    let odd = _mm_add_epi32(odd, _mm_srli_epi64(odd, 32));
    let both = _mm256_castsi256_si128(both);
    let even = [_mm_extract_epi16(both, 0), _mm_extract_epi16(both, 4)];
    let odd = [_mm_extract_epi32(odd, 0), _mm_extract_epi32(odd, 2)];
    for (row, (even, odd)) in even.into_iter().zip(odd).enumerate() {
        let (even, odd) = (Wrapping(i32::from(even as i16)) << (CONST_BITS + 2), Wrapping(odd));
        out.set_row(row, [sample(even + odd, SECOND), sample(even - odd, SECOND)]);
    }
}

/// As [`super::to_four`].
#[target_feature(enable = "avx2")]
#[inline]
pub(in super::super) fn to_four(coefficients: &[i16; 64], steps: &[u16; 64], mut out: Square<'_>) {
    const FIRST: i32 = (CONST_BITS - PASS1_BITS + 1) as i32;
    const SECOND: i32 = (CONST_BITS + PASS1_BITS + 3 + 1) as i32;
    let row = |at: usize| dequantised(coefficients, steps, at);
    let even = widened::<{ CONST_BITS as i32 + 1 }>(row(0));
    let even = _mm256_add_epi32(even, _mm256_set1_epi32(1 << (FIRST - 1)));
    let tmp2 = products(pairs(row(2), row(6)), 15137, -6270);
    let (even0, even1) = (_mm256_add_epi32(even, tmp2), _mm256_sub_epi32(even, tmp2));
    let (x15, x37) = (pairs(row(1), row(5)), pairs(row(3), row(7)));
    let odd0 = _mm256_add_epi32(products(x15, 20995, -4926), products(x37, 7373, -4176));
    let odd1 = _mm256_add_epi32(products(x15, 8697, 11893), products(x37, -17799, -1730));
    let rows = [
        _mm256_srai_epi32(_mm256_add_epi32(even0, odd0), FIRST),
        _mm256_srai_epi32(_mm256_add_epi32(even1, odd1), FIRST),
        _mm256_srai_epi32(_mm256_sub_epi32(even1, odd1), FIRST),
        _mm256_srai_epi32(_mm256_sub_epi32(even0, odd0), FIRST),
    ];
    // Columns 0, 1 and 4, 5; then 2, 3 and 6, 7.
    let (p01, p23) = (_mm256_packs_epi32(rows[0], rows[1]), _mm256_packs_epi32(rows[2], rows[3]));
    let (r02, r13) = (_mm256_unpacklo_epi16(p01, p23), _mm256_unpackhi_epi16(p01, p23));
    let (low, high) = (_mm256_unpacklo_epi16(r02, r13), _mm256_unpackhi_epi16(r02, r13));
    let (c01, c45) = (_mm256_castsi256_si128(low), _mm256_extracti128_si256(low, 1));
    let (c23, c67) = (_mm256_castsi256_si128(high), _mm256_extracti128_si256(high, 1));

    let four = |pairs: __m128i, a: i16, b: i16| _mm_madd_epi16(pairs, _mm_set1_epi32(both(a, b)));
    let even = _mm_slli_epi32(_mm_cvtepi16_epi32(c01), CONST_BITS as i32 + 1);
    let even = _mm_add_epi32(even, _mm_set1_epi32(1 << (SECOND - 1)));
    let tmp2 = four(_mm_unpacklo_epi16(c23, c67), 15137, -6270);
    let (even0, even1) = (_mm_add_epi32(even, tmp2), _mm_sub_epi32(even, tmp2));
    let (c15, c37) = (_mm_unpackhi_epi16(c01, c45), _mm_unpackhi_epi16(c23, c67));
    let odd0 = _mm_add_epi32(four(c15, 20995, -4926), four(c37, 7373, -4176));
    let odd1 = _mm_add_epi32(four(c15, 8697, 11893), four(c37, -17799, -1730));
    let left = _mm_packs_epi32(
        _mm_srai_epi32(_mm_add_epi32(even0, odd0), SECOND),
        _mm_srai_epi32(_mm_add_epi32(even1, odd1), SECOND),
    );
    let right = _mm_packs_epi32(
        _mm_srai_epi32(_mm_sub_epi32(even1, odd1), SECOND),
        _mm_srai_epi32(_mm_sub_epi32(even0, odd0), SECOND),
    );
    let columns = _mm_xor_si128(_mm_packs_epi16(left, right), _mm_set1_epi8(-128));
    let order = _mm_setr_epi8(0, 4, 8, 12, 1, 5, 9, 13, 2, 6, 10, 14, 3, 7, 11, 15);
    let rows = _mm_shuffle_epi8(columns, order);
    out.set_row(0, _mm_extract_epi32(rows, 0).to_le_bytes());
    out.set_row(1, _mm_extract_epi32(rows, 1).to_le_bytes());
    out.set_row(2, _mm_extract_epi32(rows, 2).to_le_bytes());
    out.set_row(3, _mm_extract_epi32(rows, 3).to_le_bytes());
}

/// As [`super::to_eight`].
#[target_feature(enable = "avx2")]
#[inline]
pub(in super::super) fn to_eight(coefficients: &[i16; 64], steps: &[u16; 64], mut out: Square<'_>) {
    let row = |at: usize| dequantised(coefficients, steps, at);
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
    let tmp0 = widened::<{ CONST_BITS as i32 }>(_mm_add_epi16(x[0], x[4]));
    let tmp1 = widened::<{ CONST_BITS as i32 }>(_mm_sub_epi16(x[0], x[4]));
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
    _mm256_madd_epi16(pairs, _mm256_set1_epi32(both(a, b)))
}

fn both(a: i16, b: i16) -> i32 {
    i32::from(b) << 16 | i32::from(a.cast_unsigned())
}

/// To 32 bits, with so many fraction bits.
#[target_feature(enable = "avx2")]
#[inline]
fn widened<const BITS: i32>(x: __m128i) -> __m256i {
    _mm256_slli_epi32(_mm256_cvtepi16_epi32(x), BITS)
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
