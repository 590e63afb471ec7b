//! NEON: 16 bytes.

use std::arch::aarch64::*;

use super::Wide;

/// NEON: 16 bytes. Vectors are kept as bytes and looked at as what an operation needs.
pub(in crate::kernels) struct Neon;

/// The same with dot products of bytes (FEAT_DotProd): optional from ARMv8.2 on, always there from ARMv8.4 on.
pub(in crate::kernels) struct NeonDot;

macro_rules! implement {
    ($name:ident { $($dot:tt)* }) => {
        impl Wide for $name {
            type V = uint8x16_t;
            const LANES: usize = 1;

            #[inline(always)]
            unsafe fn load(from: *const u8) -> uint8x16_t {
                vld1q_u8(from)
            }

            #[inline(always)]
            unsafe fn store(to: *mut u8, value: uint8x16_t) {
                vst1q_u8(to, value)
            }

            #[inline(always)]
            unsafe fn load_lanes(from: [*const u8; 4]) -> uint8x16_t {
                vld1q_u8(from[0])
            }

            #[inline(always)]
            unsafe fn store_half(to: *mut u8, value: uint8x16_t) {
                vst1_u8(to, vget_low_u8(value))
            }

            #[inline(always)]
            unsafe fn store_lanes(to: *mut u8, a: uint8x16_t, b: uint8x16_t) {
                Self::store(to, a);
                Self::store(to.add(16), b);
            }

            #[inline(always)]
            unsafe fn store_pixels(to: *mut u8, a: uint8x16_t, b: uint8x16_t, c: uint8x16_t, d: uint8x16_t) {
                vst4q_u8(to, uint8x16x4_t(a, b, c, d))
            }

            #[inline(always)]
            unsafe fn load_half_lanes(from: [*const u8; 8]) -> uint8x16_t {
                vcombine_u8(vld1_u8(from[0]), vld1_u8(from[1]))
            }

            #[inline(always)]
            unsafe fn unzip32(a: uint8x16_t, b: uint8x16_t) -> [uint8x16_t; 2] {
                let (a, b) = (vreinterpretq_s32_u8(a), vreinterpretq_s32_u8(b));
                [vreinterpretq_u8_s32(vuzp1q_s32(a, b)), vreinterpretq_u8_s32(vuzp2q_s32(a, b))]
            }

            #[inline(always)]
            unsafe fn sum_pairs(a: uint8x16_t, b: uint8x16_t) -> uint8x16_t {
                vreinterpretq_u8_s32(vpaddq_s32(vreinterpretq_s32_u8(a), vreinterpretq_s32_u8(b)))
            }

            #[inline(always)]
            unsafe fn zero() -> uint8x16_t {
                vdupq_n_u8(0)
            }

            #[inline(always)]
            unsafe fn splat16(value: i16) -> uint8x16_t {
                vreinterpretq_u8_s16(vdupq_n_s16(value))
            }

            #[inline(always)]
            unsafe fn splat32(value: i32) -> uint8x16_t {
                vreinterpretq_u8_s32(vdupq_n_s32(value))
            }

            #[inline(always)]
            unsafe fn splat_lane(value: [u8; 16]) -> uint8x16_t {
                vld1q_u8(value.as_ptr())
            }

            #[inline(always)]
            unsafe fn unpack_lo8(a: uint8x16_t, b: uint8x16_t) -> uint8x16_t {
                vzip1q_u8(a, b)
            }

            #[inline(always)]
            unsafe fn unpack_hi8(a: uint8x16_t, b: uint8x16_t) -> uint8x16_t {
                vzip2q_u8(a, b)
            }

            #[inline(always)]
            unsafe fn unpack_lo16(a: uint8x16_t, b: uint8x16_t) -> uint8x16_t {
                vreinterpretq_u8_s16(vzip1q_s16(vreinterpretq_s16_u8(a), vreinterpretq_s16_u8(b)))
            }

            #[inline(always)]
            unsafe fn unpack_hi16(a: uint8x16_t, b: uint8x16_t) -> uint8x16_t {
                vreinterpretq_u8_s16(vzip2q_s16(vreinterpretq_s16_u8(a), vreinterpretq_s16_u8(b)))
            }

            #[inline(always)]
            unsafe fn split16(low: uint8x16_t, high: uint8x16_t) -> [uint8x16_t; 2] {
                let (low, high) = (vreinterpretq_s16_u8(low), vreinterpretq_s16_u8(high));
                let (even, odd) = (vuzp1q_s16(low, high), vuzp2q_s16(low, high));
                [vreinterpretq_u8_s16(even), vreinterpretq_u8_s16(odd)]
            }

            #[inline(always)]
            unsafe fn shuffle8(value: uint8x16_t, table: uint8x16_t) -> uint8x16_t {
                vqtbl1q_u8(value, table)
            }

            #[inline(always)]
            unsafe fn and(a: uint8x16_t, b: uint8x16_t) -> uint8x16_t {
                vandq_u8(a, b)
            }

            #[inline(always)]
            unsafe fn add16(a: uint8x16_t, b: uint8x16_t) -> uint8x16_t {
                vreinterpretq_u8_s16(vaddq_s16(vreinterpretq_s16_u8(a), vreinterpretq_s16_u8(b)))
            }

            #[inline(always)]
            unsafe fn sub16(a: uint8x16_t, b: uint8x16_t) -> uint8x16_t {
                vreinterpretq_u8_s16(vsubq_s16(vreinterpretq_s16_u8(a), vreinterpretq_s16_u8(b)))
            }

            #[inline(always)]
            unsafe fn adds16(a: uint8x16_t, b: uint8x16_t) -> uint8x16_t {
                vreinterpretq_u8_s16(vqaddq_s16(vreinterpretq_s16_u8(a), vreinterpretq_s16_u8(b)))
            }

            #[inline(always)]
            unsafe fn mulhrs16(a: uint8x16_t, b: uint8x16_t) -> uint8x16_t {
                vreinterpretq_u8_s16(vqrdmulhq_s16(vreinterpretq_s16_u8(a), vreinterpretq_s16_u8(b)))
            }

            #[inline(always)]
            unsafe fn shl16<const BITS: i32>(a: uint8x16_t) -> uint8x16_t {
                vreinterpretq_u8_s16(vshlq_n_s16::<BITS>(vreinterpretq_s16_u8(a)))
            }

            #[inline(always)]
            unsafe fn shr16<const BITS: i32>(a: uint8x16_t) -> uint8x16_t {
                vreinterpretq_u8_u16(vshrq_n_u16::<BITS>(vreinterpretq_u16_u8(a)))
            }

            #[inline(always)]
            unsafe fn sar16<const BITS: i32>(a: uint8x16_t) -> uint8x16_t {
                vreinterpretq_u8_s16(vshrq_n_s16::<BITS>(vreinterpretq_s16_u8(a)))
            }

            #[inline(always)]
            unsafe fn add32(a: uint8x16_t, b: uint8x16_t) -> uint8x16_t {
                vreinterpretq_u8_s32(vaddq_s32(vreinterpretq_s32_u8(a), vreinterpretq_s32_u8(b)))
            }

            #[inline(always)]
            unsafe fn shl32<const BITS: i32>(a: uint8x16_t) -> uint8x16_t {
                vreinterpretq_u8_s32(vshlq_n_s32::<BITS>(vreinterpretq_s32_u8(a)))
            }

            #[inline(always)]
            unsafe fn sar32<const BITS: i32>(a: uint8x16_t) -> uint8x16_t {
                vreinterpretq_u8_s32(vshrq_n_s32::<BITS>(vreinterpretq_s32_u8(a)))
            }

            #[inline(always)]
            unsafe fn madd(sum: uint8x16_t, a: uint8x16_t, b: uint8x16_t) -> uint8x16_t {
                let (a, b) = (vreinterpretq_s16_u8(a), vreinterpretq_s16_u8(b));
                let low = vmull_s16(vget_low_s16(a), vget_low_s16(b));
                let pairs = vpaddq_s32(low, vmull_high_s16(a, b));
                vreinterpretq_u8_s32(vaddq_s32(vreinterpretq_s32_u8(sum), pairs))
            }

            #[inline(always)]
            unsafe fn madd_bytes(a: uint8x16_t, b: [i8; 2]) -> uint8x16_t {
                let (c, d) = (vdupq_n_s16(b[0].into()), vdupq_n_s16(b[1].into()));
                let even = vreinterpretq_s16_u8(vandq_u8(a, vreinterpretq_u8_u16(vdupq_n_u16(0xff))));
                let odd = vreinterpretq_s16_u16(vshrq_n_u16::<8>(vreinterpretq_u16_u8(a)));
                vreinterpretq_u8_s16(vmlaq_s16(vmulq_s16(even, c), odd, d))
            }

            #[inline(always)]
            unsafe fn sum_each(a: uint8x16_t, b: uint8x16_t, c: uint8x16_t, d: uint8x16_t) -> uint8x16_t {
                let ab = vpaddq_s32(vreinterpretq_s32_u8(a), vreinterpretq_s32_u8(b));
                let cd = vpaddq_s32(vreinterpretq_s32_u8(c), vreinterpretq_s32_u8(d));
                vreinterpretq_u8_s32(vpaddq_s32(ab, cd))
            }

            #[inline(always)]
            unsafe fn packs32(a: uint8x16_t, b: uint8x16_t) -> uint8x16_t {
                vreinterpretq_u8_s16(vqmovn_high_s32(vqmovn_s32(vreinterpretq_s32_u8(a)), vreinterpretq_s32_u8(b)))
            }

            #[inline(always)]
            unsafe fn packus16(a: uint8x16_t, b: uint8x16_t) -> uint8x16_t {
                vqmovun_high_s16(vqmovun_s16(vreinterpretq_s16_u8(a)), vreinterpretq_s16_u8(b))
            }

            #[inline(always)]
            unsafe fn in_order(packed: uint8x16_t) -> uint8x16_t {
                packed
            }

            $($dot)*
        }
    };
}

implement!(Neon {});

implement!(NeonDot {
    const HAS_DOT: bool = true;

    #[inline(always)]
    unsafe fn dot(sum: uint8x16_t, a: uint8x16_t, b: uint8x16_t) -> uint8x16_t {
        let mut sum = sum;
        // The intrinsic is not stable yet.
        std::arch::asm!(
            ".arch_extension dotprod",
            "udot {sum:v}.4s, {a:v}.16b, {b:v}.16b",
            sum = inout(vreg) sum,
            a = in(vreg) a,
            b = in(vreg) b,
            options(pure, nomem, nostack, preserves_flags)
        );
        sum
    }
});
