//! SSE4.1: 16 bytes.

use std::arch::x86_64::*;

use super::{Wide, pixels};

/// SSE4.1: 16 bytes.
pub(in crate::kernels) struct Sse41;

impl Wide for Sse41 {
    type V = __m128i;
    const LANES: usize = 1;

    #[inline(always)]
    unsafe fn load(from: *const u8) -> __m128i {
        _mm_loadu_si128(from.cast())
    }

    #[inline(always)]
    unsafe fn store(to: *mut u8, value: __m128i) {
        _mm_storeu_si128(to.cast(), value)
    }

    #[inline(always)]
    unsafe fn load_lanes(from: [*const u8; 4]) -> __m128i {
        _mm_loadu_si128(from[0].cast())
    }

    #[inline(always)]
    unsafe fn store_half(to: *mut u8, value: __m128i) {
        _mm_storel_epi64(to.cast(), value)
    }

    #[inline(always)]
    unsafe fn store_lanes(to: *mut u8, a: __m128i, b: __m128i) {
        Self::store(to, a);
        Self::store(to.add(16), b);
    }

    #[inline(always)]
    unsafe fn store_pixels(to: *mut u8, a: __m128i, b: __m128i, c: __m128i, d: __m128i) {
        let values = pixels::<Self>(a, b, c, d);
        for (at, value) in values.into_iter().enumerate() {
            Self::store(to.add(16 * at), value);
        }
    }

    #[inline(always)]
    unsafe fn load_half_lanes(from: [*const u8; 8]) -> __m128i {
        _mm_unpacklo_epi64(_mm_loadl_epi64(from[0].cast()), _mm_loadl_epi64(from[1].cast()))
    }

    #[inline(always)]
    unsafe fn unzip32(a: __m128i, b: __m128i) -> [__m128i; 2] {
        let (a, b) = (_mm_castsi128_ps(a), _mm_castsi128_ps(b));
        let even = _mm_castps_si128(_mm_shuffle_ps(a, b, 0b10_00_10_00));
        let odd = _mm_castps_si128(_mm_shuffle_ps(a, b, 0b11_01_11_01));
        [even, odd]
    }

    #[inline(always)]
    unsafe fn sum_pairs(a: __m128i, b: __m128i) -> __m128i {
        _mm_hadd_epi32(a, b)
    }

    #[inline(always)]
    unsafe fn zero() -> __m128i {
        _mm_setzero_si128()
    }

    #[inline(always)]
    unsafe fn splat16(value: i16) -> __m128i {
        _mm_set1_epi16(value)
    }

    #[inline(always)]
    unsafe fn splat32(value: i32) -> __m128i {
        _mm_set1_epi32(value)
    }

    #[inline(always)]
    unsafe fn splat_lane(value: [u8; 16]) -> __m128i {
        _mm_loadu_si128(value.as_ptr().cast())
    }

    #[inline(always)]
    unsafe fn unpack_lo8(a: __m128i, b: __m128i) -> __m128i {
        _mm_unpacklo_epi8(a, b)
    }

    #[inline(always)]
    unsafe fn unpack_hi8(a: __m128i, b: __m128i) -> __m128i {
        _mm_unpackhi_epi8(a, b)
    }

    #[inline(always)]
    unsafe fn unpack_lo16(a: __m128i, b: __m128i) -> __m128i {
        _mm_unpacklo_epi16(a, b)
    }

    #[inline(always)]
    unsafe fn unpack_hi16(a: __m128i, b: __m128i) -> __m128i {
        _mm_unpackhi_epi16(a, b)
    }

    #[inline(always)]
    unsafe fn split16(low: __m128i, high: __m128i) -> [__m128i; 2] {
        let even = _mm_set1_epi32(0xffff);
        [
            _mm_packs_epi32(_mm_and_si128(low, even), _mm_and_si128(high, even)),
            _mm_packs_epi32(_mm_srli_epi32::<16>(low), _mm_srli_epi32::<16>(high)),
        ]
    }

    #[inline(always)]
    unsafe fn shuffle8(value: __m128i, table: __m128i) -> __m128i {
        _mm_shuffle_epi8(value, table)
    }

    #[inline(always)]
    unsafe fn and(a: __m128i, b: __m128i) -> __m128i {
        _mm_and_si128(a, b)
    }

    #[inline(always)]
    unsafe fn add16(a: __m128i, b: __m128i) -> __m128i {
        _mm_add_epi16(a, b)
    }

    #[inline(always)]
    unsafe fn sub16(a: __m128i, b: __m128i) -> __m128i {
        _mm_sub_epi16(a, b)
    }

    #[inline(always)]
    unsafe fn adds16(a: __m128i, b: __m128i) -> __m128i {
        _mm_adds_epi16(a, b)
    }

    #[inline(always)]
    unsafe fn mulhrs16(a: __m128i, b: __m128i) -> __m128i {
        _mm_mulhrs_epi16(a, b)
    }

    #[inline(always)]
    unsafe fn shl16<const BITS: i32>(a: __m128i) -> __m128i {
        _mm_slli_epi16::<BITS>(a)
    }

    #[inline(always)]
    unsafe fn shr16<const BITS: i32>(a: __m128i) -> __m128i {
        _mm_srli_epi16::<BITS>(a)
    }

    #[inline(always)]
    unsafe fn sar16<const BITS: i32>(a: __m128i) -> __m128i {
        _mm_srai_epi16::<BITS>(a)
    }

    #[inline(always)]
    unsafe fn add32(a: __m128i, b: __m128i) -> __m128i {
        _mm_add_epi32(a, b)
    }

    #[inline(always)]
    unsafe fn shl32<const BITS: i32>(a: __m128i) -> __m128i {
        _mm_slli_epi32::<BITS>(a)
    }

    #[inline(always)]
    unsafe fn sar32<const BITS: i32>(a: __m128i) -> __m128i {
        _mm_srai_epi32::<BITS>(a)
    }

    #[inline(always)]
    unsafe fn madd(sum: __m128i, a: __m128i, b: __m128i) -> __m128i {
        _mm_add_epi32(sum, _mm_madd_epi16(a, b))
    }

    #[inline(always)]
    unsafe fn madd_bytes(a: __m128i, b: [i8; 2]) -> __m128i {
        _mm_maddubs_epi16(a, _mm_set1_epi16(i16::from_le_bytes([b[0] as u8, b[1] as u8])))
    }

    #[inline(always)]
    unsafe fn sum_each(a: __m128i, b: __m128i, c: __m128i, d: __m128i) -> __m128i {
        let ab = _mm_add_epi32(_mm_unpacklo_epi32(a, b), _mm_unpackhi_epi32(a, b));
        let cd = _mm_add_epi32(_mm_unpacklo_epi32(c, d), _mm_unpackhi_epi32(c, d));
        _mm_add_epi32(_mm_unpacklo_epi64(ab, cd), _mm_unpackhi_epi64(ab, cd))
    }

    #[inline(always)]
    unsafe fn packs32(a: __m128i, b: __m128i) -> __m128i {
        _mm_packs_epi32(a, b)
    }

    #[inline(always)]
    unsafe fn packus16(a: __m128i, b: __m128i) -> __m128i {
        _mm_packus_epi16(a, b)
    }

    #[inline(always)]
    unsafe fn in_order(packed: __m128i) -> __m128i {
        packed
    }
}
