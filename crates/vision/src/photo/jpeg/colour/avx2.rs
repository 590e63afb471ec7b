//! YCbCr to RGB with AVX2, sixteen pixels at a time; the arithmetic is that of [`super::rgb_of_ycbcr`].

use std::arch::x86_64::*;

/// Pixels that are converted at once.
const STEP: usize = 16;

/// Converts as many pixels as make whole steps, and returns how many. All rows have the length of `out`.
#[target_feature(enable = "avx2")]
#[inline]
pub(in super::super) fn rgb_of_ycbcr(y: &[u8], cb: &[u8], cr: &[u8], out: &mut [[u8; 3]]) -> usize {
    let (y, cb, cr) = (y.as_chunks::<STEP>().0, cb.as_chunks::<STEP>().0, cr.as_chunks::<STEP>().0);
    let out = out.as_chunks_mut::<STEP>().0;
    let steps = out.len();
    for (((y, cb), cr), out) in y.iter().zip(cb).zip(cr).zip(out) {
        let [r, g, b] = converted(load(y), load(cb), load(cr));
        let interleaved = interleaved(r, g, b);
        let out = out.as_flattened_mut().as_chunks_mut::<16>().0;
        for (out, pixels) in out.iter_mut().zip(interleaved) {
            // SAFETY: it points to sixteen bytes; no alignment is asked for.
            unsafe { _mm_storeu_si128(out.as_mut_ptr().cast(), pixels) };
        }
    }
    steps * STEP
}

#[target_feature(enable = "avx2")]
#[inline]
fn load(bytes: &[u8; STEP]) -> __m256i {
    // SAFETY: it points to sixteen bytes; no alignment is asked for.
    _mm256_cvtepu8_epi16(unsafe { _mm_loadu_si128(bytes.as_ptr().cast()) })
}

#[target_feature(enable = "avx2")]
#[inline]
fn converted(y: __m256i, cb: __m256i, cr: __m256i) -> [__m128i; 3] {
    let centre = _mm256_set1_epi16(128);
    let (cb, cr) = (_mm256_sub_epi16(cb, centre), _mm256_sub_epi16(cr, centre));
    // 1.402 is 1 and 26345 / 65536; 1.772 is 2 less 14942 / 65536. The upper half of twice the product, rounded.
    let r = _mm256_add_epi16(y, _mm256_add_epi16(cr, share(cr, 26_345)));
    let b = _mm256_add_epi16(y, _mm256_add_epi16(_mm256_add_epi16(cb, cb), share(cb, -14_942)));
    // -0.71414 is -1 and 18734 / 65536.
    let factors = _mm256_set1_epi32(18_734 << 16 | i32::from((-22_554_i16).cast_unsigned()));
    let half = _mm256_set1_epi32(1 << 15);
    let sum =
        |pairs: __m256i| _mm256_srai_epi32(_mm256_add_epi32(_mm256_madd_epi16(pairs, factors), half), 16);
    let chroma = _mm256_packs_epi32(sum(_mm256_unpacklo_epi16(cb, cr)), sum(_mm256_unpackhi_epi16(cb, cr)));
    let g = _mm256_add_epi16(y, _mm256_sub_epi16(chroma, cr));
    [r, g, b].map(|wide| _mm_packus_epi16(_mm256_castsi256_si128(wide), _mm256_extracti128_si256(wide, 1)))
}

/// `(x * factor + 32768) >> 16`.
#[target_feature(enable = "avx2")]
#[inline]
fn share(x: __m256i, factor: i16) -> __m256i {
    let twice = _mm256_mulhi_epi16(_mm256_add_epi16(x, x), _mm256_set1_epi16(factor));
    _mm256_srai_epi16(_mm256_add_epi16(twice, _mm256_set1_epi16(1)), 1)
}

/// R, G, B of one pixel after the other.
#[target_feature(enable = "avx2")]
#[inline]
fn interleaved(r: __m128i, g: __m128i, b: __m128i) -> [__m128i; 3] {
    // Where each byte comes from; -1 for a zero.
    let from = |bytes: [i8; 16]| {
        let [a, b, c, d, e, f, g, h, i, j, k, l, m, n, o, p] = bytes;
        _mm_setr_epi8(a, b, c, d, e, f, g, h, i, j, k, l, m, n, o, p)
    };
    let merged = |r_from: [i8; 16], g_from: [i8; 16], b_from: [i8; 16]| {
        let (r, g) = (_mm_shuffle_epi8(r, from(r_from)), _mm_shuffle_epi8(g, from(g_from)));
        _mm_or_si128(_mm_or_si128(r, g), _mm_shuffle_epi8(b, from(b_from)))
    };
    [
        merged(
            [0, -1, -1, 1, -1, -1, 2, -1, -1, 3, -1, -1, 4, -1, -1, 5],
            [-1, 0, -1, -1, 1, -1, -1, 2, -1, -1, 3, -1, -1, 4, -1, -1],
            [-1, -1, 0, -1, -1, 1, -1, -1, 2, -1, -1, 3, -1, -1, 4, -1],
        ),
        merged(
            [-1, -1, 6, -1, -1, 7, -1, -1, 8, -1, -1, 9, -1, -1, 10, -1],
            [5, -1, -1, 6, -1, -1, 7, -1, -1, 8, -1, -1, 9, -1, -1, 10],
            [-1, 5, -1, -1, 6, -1, -1, 7, -1, -1, 8, -1, -1, 9, -1, -1],
        ),
        merged(
            [-1, 11, -1, -1, 12, -1, -1, 13, -1, -1, 14, -1, -1, 15, -1, -1],
            [-1, -1, 11, -1, -1, 12, -1, -1, 13, -1, -1, 14, -1, -1, 15, -1],
            [10, -1, -1, 11, -1, -1, 12, -1, -1, 13, -1, -1, 14, -1, -1, 15],
        ),
    ]
}
