//! What the kernels ask of an instruction set: vectors of 16, 32 or 64 bytes.

// Kernels are generic over the instruction set and inlined into functions that have it switched on. That works only as
// long as they hold no closure, which would be compiled without.

// Each function here is unsafe for the one reason that the trait states, and is little more than one instruction.
#![allow(unsafe_op_in_unsafe_fn)]

#[cfg(target_arch = "x86_64")]
mod avx2;
#[cfg(target_arch = "x86_64")]
mod avx512;
#[cfg(target_arch = "aarch64")]
mod neon;
#[cfg(target_arch = "x86_64")]
mod sse41;

#[cfg(target_arch = "x86_64")]
pub(super) use {avx2::Avx2, avx512::Avx512, sse41::Sse41};

#[cfg(target_arch = "aarch64")]
pub(super) use neon::{Neon, NeonDot};

/// A vector of [`Wide::LANES`] lanes of 16 bytes each. Operations stay within lanes unless they say otherwise.
///
/// # Safety
/// All functions need the instruction set to be there. Pointers are good for what is read or written; no alignment is
/// asked for.
pub(super) trait Wide {
    type V: Copy;
    /// Lanes of 16 bytes.
    const LANES: usize;
    /// Bytes in a vector.
    const BYTES: usize = 16 * Self::LANES;

    unsafe fn load(from: *const u8) -> Self::V;
    unsafe fn store(to: *mut u8, value: Self::V);
    /// Each lane from a pointer of its own; those beyond the lanes are not used.
    unsafe fn load_lanes(from: [*const u8; 4]) -> Self::V;
    /// The first half of the vector.
    unsafe fn store_half(to: *mut u8, value: Self::V);
    /// Lane 0 of `a`, lane 0 of `b`, lane 1 of `a` and so on.
    unsafe fn store_lanes(to: *mut u8, a: Self::V, b: Self::V);
    /// Bytes of four channels, pixel by pixel.
    unsafe fn store_pixels(to: *mut u8, a: Self::V, b: Self::V, c: Self::V, d: Self::V);
    /// Each lane from two pointers of its own, 8 bytes from each; those beyond the lanes are not used.
    unsafe fn load_half_lanes(from: [*const u8; 8]) -> Self::V;
    /// The even, then the odd 32-bit numbers: in each lane those of `a`, then those of `b`.
    unsafe fn unzip32(a: Self::V, b: Self::V) -> [Self::V; 2];
    /// The sums of two 32-bit numbers side by side: in each lane those of `a`, then those of `b`.
    unsafe fn sum_pairs(a: Self::V, b: Self::V) -> Self::V;
    unsafe fn zero() -> Self::V;
    unsafe fn splat16(value: i16) -> Self::V;
    unsafe fn splat32(value: i32) -> Self::V;
    /// The same 16 bytes in each lane.
    unsafe fn splat_lane(value: [u8; 16]) -> Self::V;

    unsafe fn unpack_lo8(a: Self::V, b: Self::V) -> Self::V;
    unsafe fn unpack_hi8(a: Self::V, b: Self::V) -> Self::V;
    unsafe fn unpack_lo16(a: Self::V, b: Self::V) -> Self::V;
    unsafe fn unpack_hi16(a: Self::V, b: Self::V) -> Self::V;
    /// Even and odd 16-bit numbers, not negative, of what [`Self::unpack_lo8`] and [`Self::unpack_hi8`] made of a vector, in
    /// the order of that vector.
    unsafe fn split16(low: Self::V, high: Self::V) -> [Self::V; 2];
    /// Bytes of `value` by index; zero for an index of 128.
    unsafe fn shuffle8(value: Self::V, table: Self::V) -> Self::V;

    unsafe fn and(a: Self::V, b: Self::V) -> Self::V;
    unsafe fn add16(a: Self::V, b: Self::V) -> Self::V;
    unsafe fn sub16(a: Self::V, b: Self::V) -> Self::V;
    /// Saturating.
    unsafe fn adds16(a: Self::V, b: Self::V) -> Self::V;
    /// `(a * b + 2^14) >> 15`.
    unsafe fn mulhrs16(a: Self::V, b: Self::V) -> Self::V;
    unsafe fn shl16<const BITS: i32>(a: Self::V) -> Self::V;
    /// Logical.
    unsafe fn shr16<const BITS: i32>(a: Self::V) -> Self::V;
    unsafe fn sar16<const BITS: i32>(a: Self::V) -> Self::V;
    unsafe fn add32(a: Self::V, b: Self::V) -> Self::V;
    unsafe fn shl32<const BITS: i32>(a: Self::V) -> Self::V;
    unsafe fn sar32<const BITS: i32>(a: Self::V) -> Self::V;
    /// `sum + a0 * b0 + a1 * b1` for each pair of 16-bit numbers.
    unsafe fn madd(sum: Self::V, a: Self::V, b: Self::V) -> Self::V;
    /// `a0 * b0 + a1 * b1` for each pair of bytes, unsigned in `a`, signed in `b`, whose pairs are all the same and whose
    /// sums fit 16 bits.
    unsafe fn madd_bytes(a: Self::V, b: [i8; 2]) -> Self::V;
    /// Whether [`Self::dot`] is one instruction that pays. (AVX-512's does not: measured on Zen 4, two rows at a time with
    /// 16-bit products are faster.)
    const HAS_DOT: bool = false;
    /// `sum + a0 * b0 + a1 * b1 + a2 * b2 + a3 * b3` for each four bytes, unsigned, those of `b` below 128. Only where
    /// [`Self::HAS_DOT`] says so.
    unsafe fn dot(sum: Self::V, a: Self::V, b: Self::V) -> Self::V {
        let _ = (a, b);
        sum
    }
    /// The sums of the four 32-bit numbers in each lane of `a`, `b`, `c` and `d`.
    unsafe fn sum_each(a: Self::V, b: Self::V, c: Self::V, d: Self::V) -> Self::V;

    /// 32 to 16 bits, signed, saturating: lane by lane `a`, then `b`.
    unsafe fn packs32(a: Self::V, b: Self::V) -> Self::V;
    /// 16 bits signed to 8 unsigned, saturating: lane by lane `a`, then `b`.
    unsafe fn packus16(a: Self::V, b: Self::V) -> Self::V;
    /// Undoes the order that a pack of two whole vectors leaves: all of the first, then all of the second.
    unsafe fn in_order(packed: Self::V) -> Self::V;
}

/// Bytes of four channels as pixels, four in each lane of four vectors.
#[cfg(target_arch = "x86_64")]
#[inline(always)]
unsafe fn pixels<W: Wide>(a: W::V, b: W::V, c: W::V, d: W::V) -> [W::V; 4] {
    let (ab, cd) = (W::unpack_lo8(a, b), W::unpack_lo8(c, d));
    let (ab_high, cd_high) = (W::unpack_hi8(a, b), W::unpack_hi8(c, d));
    [
        W::unpack_lo16(ab, cd),
        W::unpack_hi16(ab, cd),
        W::unpack_lo16(ab_high, cd_high),
        W::unpack_hi16(ab_high, cd_high),
    ]
}
