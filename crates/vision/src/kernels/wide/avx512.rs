//! AVX-512 with BW, VL, VNNI and VBMI: 64 bytes.

use std::arch::x86_64::*;

use super::Wide;

/// AVX-512 with BW, VL, VNNI and VBMI: 64 bytes.
pub(in crate::kernels) struct Avx512;

/// For pixels 0 to 31, then 32 to 63: where the bytes of two channels come from, so that in lane `n` the first half is
/// pixels `4n` to `4n + 3` and the second is as many of those 16 further on.
const PAIRS: [[u8; 64]; 2] = {
    let mut tables = [[0; 64]; 2];
    let mut at = 0;
    while at < 64 {
        let (lane, place) = (at / 16, at % 16 / 2);
        let pixel = 4 * lane + place % 4 + 16 * (place / 4);
        // The second source counts from 64.
        tables[0][at] = (pixel + 64 * (at % 2)) as u8;
        tables[1][at] = tables[0][at] + 32;
        at += 1;
    }
    tables
};

/// Even and odd 16-bit numbers of two vectors, lane by lane.
const SPLIT: [[u16; 32]; 2] = {
    let mut tables = [[0; 32]; 2];
    let mut at = 0;
    while at < 32 {
        let (lane, place) = (at / 8, at % 8);
        // Four from the first source, four from the second, which counts from 32.
        let from = 8 * lane + 2 * (place % 4) + 32 * (place / 4);
        tables[0][at] = from as u16;
        tables[1][at] = from as u16 + 1;
        at += 1;
    }
    tables
};

impl Wide for Avx512 {
    type V = __m512i;
    const LANES: usize = 4;

    #[inline(always)]
    unsafe fn load(from: *const u8) -> __m512i {
        _mm512_loadu_si512(from.cast())
    }

    #[inline(always)]
    unsafe fn store(to: *mut u8, value: __m512i) {
        _mm512_storeu_si512(to.cast(), value)
    }

    #[inline(always)]
    unsafe fn load_lanes(from: [*const u8; 4]) -> __m512i {
        let low = _mm512_castsi128_si512(_mm_loadu_si128(from[0].cast()));
        let low = _mm512_inserti32x4(low, _mm_loadu_si128(from[1].cast()), 1);
        let low = _mm512_inserti32x4(low, _mm_loadu_si128(from[2].cast()), 2);
        _mm512_inserti32x4(low, _mm_loadu_si128(from[3].cast()), 3)
    }

    #[inline(always)]
    unsafe fn store_half(to: *mut u8, value: __m512i) {
        _mm256_storeu_si256(to.cast(), _mm512_castsi512_si256(value))
    }

    #[inline(always)]
    unsafe fn store_lanes(to: *mut u8, a: __m512i, b: __m512i) {
        let low = _mm512_setr_epi64(0, 1, 8, 9, 2, 3, 10, 11);
        let high = _mm512_setr_epi64(4, 5, 12, 13, 6, 7, 14, 15);
        Self::store(to, _mm512_permutex2var_epi64(a, low, b));
        Self::store(to.add(64), _mm512_permutex2var_epi64(a, high, b));
    }

    #[inline(always)]
    unsafe fn store_pixels(to: *mut u8, a: __m512i, b: __m512i, c: __m512i, d: __m512i) {
        // Pairs of channels go where the last step, which stays within lanes, brings all pixels into order.
        let low = _mm512_loadu_si512(PAIRS[0].as_ptr().cast());
        let high = _mm512_loadu_si512(PAIRS[1].as_ptr().cast());
        for (to, pairs) in [to, to.add(128)].into_iter().zip([low, high]) {
            let ab = _mm512_permutex2var_epi8(a, pairs, b);
            let cd = _mm512_permutex2var_epi8(c, pairs, d);
            Self::store(to, _mm512_unpacklo_epi16(ab, cd));
            Self::store(to.add(64), _mm512_unpackhi_epi16(ab, cd));
        }
    }

    #[inline(always)]
    unsafe fn load_half_lanes(from: [*const u8; 8]) -> __m512i {
        let a = _mm_unpacklo_epi64(_mm_loadl_epi64(from[0].cast()), _mm_loadl_epi64(from[1].cast()));
        let b = _mm_unpacklo_epi64(_mm_loadl_epi64(from[2].cast()), _mm_loadl_epi64(from[3].cast()));
        let c = _mm_unpacklo_epi64(_mm_loadl_epi64(from[4].cast()), _mm_loadl_epi64(from[5].cast()));
        let d = _mm_unpacklo_epi64(_mm_loadl_epi64(from[6].cast()), _mm_loadl_epi64(from[7].cast()));
        let values = _mm512_inserti32x4(_mm512_castsi128_si512(a), b, 1);
        _mm512_inserti32x4(_mm512_inserti32x4(values, c, 2), d, 3)
    }

    #[inline(always)]
    unsafe fn unzip32(a: __m512i, b: __m512i) -> [__m512i; 2] {
        let (a, b) = (_mm512_castsi512_ps(a), _mm512_castsi512_ps(b));
        let even = _mm512_castps_si512(_mm512_shuffle_ps(a, b, 0b10_00_10_00));
        let odd = _mm512_castps_si512(_mm512_shuffle_ps(a, b, 0b11_01_11_01));
        [even, odd]
    }

    #[inline(always)]
    unsafe fn sum_pairs(a: __m512i, b: __m512i) -> __m512i {
        let [even, odd] = Self::unzip32(a, b);
        _mm512_add_epi32(even, odd)
    }

    #[inline(always)]
    unsafe fn zero() -> __m512i {
        _mm512_setzero_si512()
    }

    #[inline(always)]
    unsafe fn splat16(value: i16) -> __m512i {
        _mm512_set1_epi16(value)
    }

    #[inline(always)]
    unsafe fn splat32(value: i32) -> __m512i {
        _mm512_set1_epi32(value)
    }

    #[inline(always)]
    unsafe fn splat_lane(value: [u8; 16]) -> __m512i {
        _mm512_broadcast_i32x4(_mm_loadu_si128(value.as_ptr().cast()))
    }

    #[inline(always)]
    unsafe fn unpack_lo8(a: __m512i, b: __m512i) -> __m512i {
        _mm512_unpacklo_epi8(a, b)
    }

    #[inline(always)]
    unsafe fn unpack_hi8(a: __m512i, b: __m512i) -> __m512i {
        _mm512_unpackhi_epi8(a, b)
    }

    #[inline(always)]
    unsafe fn unpack_lo16(a: __m512i, b: __m512i) -> __m512i {
        _mm512_unpacklo_epi16(a, b)
    }

    #[inline(always)]
    unsafe fn unpack_hi16(a: __m512i, b: __m512i) -> __m512i {
        _mm512_unpackhi_epi16(a, b)
    }

    #[inline(always)]
    unsafe fn split16(low: __m512i, high: __m512i) -> [__m512i; 2] {
        // Lane by lane, as the order within lanes is that of the unpacking.
        let even = _mm512_loadu_si512(SPLIT[0].as_ptr().cast());
        let odd = _mm512_loadu_si512(SPLIT[1].as_ptr().cast());
        [_mm512_permutex2var_epi16(low, even, high), _mm512_permutex2var_epi16(low, odd, high)]
    }

    #[inline(always)]
    unsafe fn shuffle8(value: __m512i, table: __m512i) -> __m512i {
        _mm512_shuffle_epi8(value, table)
    }

    #[inline(always)]
    unsafe fn and(a: __m512i, b: __m512i) -> __m512i {
        _mm512_and_si512(a, b)
    }

    #[inline(always)]
    unsafe fn add16(a: __m512i, b: __m512i) -> __m512i {
        _mm512_add_epi16(a, b)
    }

    #[inline(always)]
    unsafe fn sub16(a: __m512i, b: __m512i) -> __m512i {
        _mm512_sub_epi16(a, b)
    }

    #[inline(always)]
    unsafe fn adds16(a: __m512i, b: __m512i) -> __m512i {
        _mm512_adds_epi16(a, b)
    }

    #[inline(always)]
    unsafe fn mulhrs16(a: __m512i, b: __m512i) -> __m512i {
        _mm512_mulhrs_epi16(a, b)
    }

    #[inline(always)]
    unsafe fn shl16<const BITS: i32>(a: __m512i) -> __m512i {
        _mm512_sllv_epi16(a, _mm512_set1_epi16(BITS as i16))
    }

    #[inline(always)]
    unsafe fn shr16<const BITS: i32>(a: __m512i) -> __m512i {
        _mm512_srlv_epi16(a, _mm512_set1_epi16(BITS as i16))
    }

    #[inline(always)]
    unsafe fn sar16<const BITS: i32>(a: __m512i) -> __m512i {
        _mm512_srav_epi16(a, _mm512_set1_epi16(BITS as i16))
    }

    #[inline(always)]
    unsafe fn add32(a: __m512i, b: __m512i) -> __m512i {
        _mm512_add_epi32(a, b)
    }

    #[inline(always)]
    unsafe fn shl32<const BITS: i32>(a: __m512i) -> __m512i {
        _mm512_sllv_epi32(a, _mm512_set1_epi32(BITS))
    }

    #[inline(always)]
    unsafe fn sar32<const BITS: i32>(a: __m512i) -> __m512i {
        _mm512_srav_epi32(a, _mm512_set1_epi32(BITS))
    }

    #[inline(always)]
    unsafe fn madd(sum: __m512i, a: __m512i, b: __m512i) -> __m512i {
        _mm512_dpwssd_epi32(sum, a, b)
    }

    #[inline(always)]
    unsafe fn madd_bytes(a: __m512i, b: [i8; 2]) -> __m512i {
        _mm512_maddubs_epi16(a, _mm512_set1_epi16(i16::from_le_bytes([b[0] as u8, b[1] as u8])))
    }

    #[inline(always)]
    unsafe fn sum_each(a: __m512i, b: __m512i, c: __m512i, d: __m512i) -> __m512i {
        let ab = _mm512_add_epi32(_mm512_unpacklo_epi32(a, b), _mm512_unpackhi_epi32(a, b));
        let cd = _mm512_add_epi32(_mm512_unpacklo_epi32(c, d), _mm512_unpackhi_epi32(c, d));
        _mm512_add_epi32(_mm512_unpacklo_epi64(ab, cd), _mm512_unpackhi_epi64(ab, cd))
    }

    #[inline(always)]
    unsafe fn packs32(a: __m512i, b: __m512i) -> __m512i {
        _mm512_packs_epi32(a, b)
    }

    #[inline(always)]
    unsafe fn packus16(a: __m512i, b: __m512i) -> __m512i {
        _mm512_packus_epi16(a, b)
    }

    #[inline(always)]
    unsafe fn in_order(packed: __m512i) -> __m512i {
        _mm512_permutexvar_epi64(_mm512_setr_epi64(0, 2, 4, 6, 1, 3, 5, 7), packed)
    }
}
