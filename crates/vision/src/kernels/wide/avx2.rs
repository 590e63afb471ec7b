//! AVX2: 32 bytes.

use std::arch::x86_64::*;

use super::{Wide, pixels};

/// AVX2: 32 bytes.
pub(in crate::kernels) struct Avx2;

impl Wide for Avx2 {
    type V = __m256i;
    const LANES: usize = 2;

    #[inline(always)]
    unsafe fn load(from: *const u8) -> __m256i {
        _mm256_loadu_si256(from.cast())
    }

    #[inline(always)]
    unsafe fn store(to: *mut u8, value: __m256i) {
        _mm256_storeu_si256(to.cast(), value)
    }

    #[inline(always)]
    unsafe fn load_lanes(from: [*const u8; 4]) -> __m256i {
        let low = _mm256_castsi128_si256(_mm_loadu_si128(from[0].cast()));
        _mm256_inserti128_si256(low, _mm_loadu_si128(from[1].cast()), 1)
    }

    #[inline(always)]
    unsafe fn store_half(to: *mut u8, value: __m256i) {
        _mm_storeu_si128(to.cast(), _mm256_castsi256_si128(value))
    }

    #[inline(always)]
    unsafe fn store_lanes(to: *mut u8, a: __m256i, b: __m256i) {
        Self::store(to, _mm256_permute2x128_si256(a, b, 0x20));
        Self::store(to.add(32), _mm256_permute2x128_si256(a, b, 0x31));
    }

    #[inline(always)]
    unsafe fn store_pixels(to: *mut u8, a: __m256i, b: __m256i, c: __m256i, d: __m256i) {
        let values = pixels::<Self>(a, b, c, d);
        let [a, b, c, d] = values;
        Self::store(to, _mm256_permute2x128_si256(a, b, 0x20));
        Self::store(to.add(32), _mm256_permute2x128_si256(c, d, 0x20));
        Self::store(to.add(64), _mm256_permute2x128_si256(a, b, 0x31));
        Self::store(to.add(96), _mm256_permute2x128_si256(c, d, 0x31));
    }

    #[inline(always)]
    unsafe fn load_half_lanes(from: [*const u8; 8]) -> __m256i {
        let low = _mm_unpacklo_epi64(_mm_loadl_epi64(from[0].cast()), _mm_loadl_epi64(from[1].cast()));
        let high = _mm_unpacklo_epi64(_mm_loadl_epi64(from[2].cast()), _mm_loadl_epi64(from[3].cast()));
        _mm256_inserti128_si256(_mm256_castsi128_si256(low), high, 1)
    }

    #[inline(always)]
    unsafe fn unzip32(a: __m256i, b: __m256i) -> [__m256i; 2] {
        let (a, b) = (_mm256_castsi256_ps(a), _mm256_castsi256_ps(b));
        let even = _mm256_castps_si256(_mm256_shuffle_ps(a, b, 0b10_00_10_00));
        let odd = _mm256_castps_si256(_mm256_shuffle_ps(a, b, 0b11_01_11_01));
        [even, odd]
    }

    #[inline(always)]
    unsafe fn sum_pairs(a: __m256i, b: __m256i) -> __m256i {
        _mm256_hadd_epi32(a, b)
    }

    #[inline(always)]
    unsafe fn zero() -> __m256i {
        _mm256_setzero_si256()
    }

    #[inline(always)]
    unsafe fn splat16(value: i16) -> __m256i {
        _mm256_set1_epi16(value)
    }

    #[inline(always)]
    unsafe fn splat32(value: i32) -> __m256i {
        _mm256_set1_epi32(value)
    }

    #[inline(always)]
    unsafe fn splat_lane(value: [u8; 16]) -> __m256i {
        _mm256_broadcastsi128_si256(_mm_loadu_si128(value.as_ptr().cast()))
    }

    #[inline(always)]
    unsafe fn unpack_lo8(a: __m256i, b: __m256i) -> __m256i {
        _mm256_unpacklo_epi8(a, b)
    }

    #[inline(always)]
    unsafe fn unpack_hi8(a: __m256i, b: __m256i) -> __m256i {
        _mm256_unpackhi_epi8(a, b)
    }

    #[inline(always)]
    unsafe fn unpack_lo16(a: __m256i, b: __m256i) -> __m256i {
        _mm256_unpacklo_epi16(a, b)
    }

    #[inline(always)]
    unsafe fn unpack_hi16(a: __m256i, b: __m256i) -> __m256i {
        _mm256_unpackhi_epi16(a, b)
    }

    #[inline(always)]
    unsafe fn split16(low: __m256i, high: __m256i) -> [__m256i; 2] {
        let even = _mm256_set1_epi32(0xffff);
        [
            _mm256_packs_epi32(_mm256_and_si256(low, even), _mm256_and_si256(high, even)),
            _mm256_packs_epi32(_mm256_srli_epi32::<16>(low), _mm256_srli_epi32::<16>(high)),
        ]
    }

    #[inline(always)]
    unsafe fn shuffle8(value: __m256i, table: __m256i) -> __m256i {
        _mm256_shuffle_epi8(value, table)
    }

    #[inline(always)]
    unsafe fn and(a: __m256i, b: __m256i) -> __m256i {
        _mm256_and_si256(a, b)
    }

    #[inline(always)]
    unsafe fn add16(a: __m256i, b: __m256i) -> __m256i {
        _mm256_add_epi16(a, b)
    }

    #[inline(always)]
    unsafe fn sub16(a: __m256i, b: __m256i) -> __m256i {
        _mm256_sub_epi16(a, b)
    }

    #[inline(always)]
    unsafe fn adds16(a: __m256i, b: __m256i) -> __m256i {
        _mm256_adds_epi16(a, b)
    }

    #[inline(always)]
    unsafe fn mulhrs16(a: __m256i, b: __m256i) -> __m256i {
        _mm256_mulhrs_epi16(a, b)
    }

    #[inline(always)]
    unsafe fn shl16<const BITS: i32>(a: __m256i) -> __m256i {
        _mm256_slli_epi16::<BITS>(a)
    }

    #[inline(always)]
    unsafe fn shr16<const BITS: i32>(a: __m256i) -> __m256i {
        _mm256_srli_epi16::<BITS>(a)
    }

    #[inline(always)]
    unsafe fn sar16<const BITS: i32>(a: __m256i) -> __m256i {
        _mm256_srai_epi16::<BITS>(a)
    }

    #[inline(always)]
    unsafe fn add32(a: __m256i, b: __m256i) -> __m256i {
        _mm256_add_epi32(a, b)
    }

    #[inline(always)]
    unsafe fn shl32<const BITS: i32>(a: __m256i) -> __m256i {
        _mm256_slli_epi32::<BITS>(a)
    }

    #[inline(always)]
    unsafe fn sar32<const BITS: i32>(a: __m256i) -> __m256i {
        _mm256_srai_epi32::<BITS>(a)
    }

    #[inline(always)]
    unsafe fn madd(sum: __m256i, a: __m256i, b: __m256i) -> __m256i {
        _mm256_add_epi32(sum, _mm256_madd_epi16(a, b))
    }

    #[inline(always)]
    unsafe fn madd_bytes(a: __m256i, b: [i8; 2]) -> __m256i {
        _mm256_maddubs_epi16(a, _mm256_set1_epi16(i16::from_le_bytes([b[0] as u8, b[1] as u8])))
    }

    #[inline(always)]
    unsafe fn sum_each(a: __m256i, b: __m256i, c: __m256i, d: __m256i) -> __m256i {
        let ab = _mm256_add_epi32(_mm256_unpacklo_epi32(a, b), _mm256_unpackhi_epi32(a, b));
        let cd = _mm256_add_epi32(_mm256_unpacklo_epi32(c, d), _mm256_unpackhi_epi32(c, d));
        _mm256_add_epi32(_mm256_unpacklo_epi64(ab, cd), _mm256_unpackhi_epi64(ab, cd))
    }

    #[inline(always)]
    unsafe fn packs32(a: __m256i, b: __m256i) -> __m256i {
        _mm256_packs_epi32(a, b)
    }

    #[inline(always)]
    unsafe fn packus16(a: __m256i, b: __m256i) -> __m256i {
        _mm256_packus_epi16(a, b)
    }

    #[inline(always)]
    unsafe fn in_order(packed: __m256i) -> __m256i {
        _mm256_permute4x64_epi64(packed, 0b11_01_10_00)
    }
}
