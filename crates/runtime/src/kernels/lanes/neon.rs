//! NEON: four floats.

#![allow(clippy::needless_range_loop, reason = "several arrays, of registers, are gone through at once")]

use super::Lanes;
use std::arch::aarch64::*;

/// NEON: four floats.
#[derive(Clone, Copy)]
pub(in crate::kernels) struct Neon;

/// The same with dot products of bytes (FEAT_DotProd).
#[derive(Clone, Copy)]
pub(in crate::kernels) struct NeonDot;

macro_rules! implement {
    ($name:ident, $dot:ident) => {
        impl Lanes for $name {
            const LANES: usize = 4;
            const PACKED: [usize; 2] = [4, 2];
            const ROWS: usize = 2;
            const COLUMNS: usize = 4;
            type F = float32x4_t;
            type Parts = [float32x4_t; 2];

            #[inline(always)]
            unsafe fn splat(x: f32) -> Self::F {
                // SAFETY: the caller's promise.
                unsafe { vdupq_n_f32(x) }
            }

            #[inline(always)]
            unsafe fn load(from: *const f32) -> Self::F {
                // SAFETY: the caller's promise.
                unsafe { vld1q_f32(from) }
            }

            #[inline(always)]
            unsafe fn store(to: *mut f32, x: Self::F) {
                // SAFETY: the caller's promise.
                unsafe { vst1q_f32(to, x) }
            }

            #[inline(always)]
            unsafe fn add(a: Self::F, b: Self::F) -> Self::F {
                // SAFETY: the caller's promise.
                unsafe { vaddq_f32(a, b) }
            }

            #[inline(always)]
            unsafe fn sub(a: Self::F, b: Self::F) -> Self::F {
                // SAFETY: the caller's promise.
                unsafe { vsubq_f32(a, b) }
            }

            #[inline(always)]
            unsafe fn mul(a: Self::F, b: Self::F) -> Self::F {
                // SAFETY: the caller's promise.
                unsafe { vmulq_f32(a, b) }
            }

            #[inline(always)]
            unsafe fn div(a: Self::F, b: Self::F) -> Self::F {
                // SAFETY: the caller's promise.
                unsafe { vdivq_f32(a, b) }
            }

            #[inline(always)]
            unsafe fn max(a: Self::F, b: Self::F) -> Self::F {
                // Not `vmaxq`, which gives what is no number if one is.
                // SAFETY: the caller's promise.
                unsafe { vbslq_f32(vcgtq_f32(a, b), a, b) }
            }

            #[inline(always)]
            unsafe fn min(a: Self::F, b: Self::F) -> Self::F {
                // SAFETY: the caller's promise.
                unsafe { vbslq_f32(vcltq_f32(a, b), a, b) }
            }

            #[inline(always)]
            unsafe fn fma(a: Self::F, b: Self::F, c: Self::F) -> Self::F {
                // SAFETY: the caller's promise.
                unsafe { vfmaq_f32(c, a, b) }
            }

            #[inline(always)]
            unsafe fn abs(x: Self::F) -> Self::F {
                // SAFETY: the caller's promise.
                unsafe { vabsq_f32(x) }
            }

            #[inline(always)]
            unsafe fn if_below(x: Self::F, limit: f32, yes: Self::F, no: Self::F) -> Self::F {
                // SAFETY: the caller's promise.
                unsafe { vbslq_f32(vcltq_f32(x, vdupq_n_f32(limit)), yes, no) }
            }

            #[inline(always)]
            unsafe fn power_of_two(shifted: Self::F) -> Self::F {
                // SAFETY: the caller's promise.
                unsafe {
                    let exponent = vshlq_n_s32::<23>(vreinterpretq_s32_f32(shifted));
                    let one = vreinterpretq_s32_f32(vdupq_n_f32(1.0));
                    vreinterpretq_f32_s32(vaddq_s32(exponent, one))
                }
            }

            #[inline(always)]
            unsafe fn sum(x: Self::F) -> f32 {
                // SAFETY: the caller's promise.
                unsafe { vaddvq_f32(x) }
            }

            #[inline(always)]
            unsafe fn largest(x: Self::F) -> f32 {
                // SAFETY: the caller's promise.
                unsafe { vmaxnmvq_f32(x) }
            }

            #[inline(always)]
            unsafe fn load_f16(from: *const u16) -> Self::F {
                // SAFETY: the caller's promise.
                unsafe { vcvt_f32_f16(vreinterpret_f16_u16(vld1_u16(from))) }
            }

            #[inline(always)]
            unsafe fn store_f16(to: *mut u16, x: Self::F) {
                // SAFETY: the caller's promise.
                unsafe { vst1_u16(to, vreinterpret_u16_f16(vcvt_f16_f32(x))) }
            }

            #[inline(always)]
            unsafe fn load_i8(from: *const i8) -> Self::F {
                // SAFETY: the caller's promise.
                unsafe {
                    let four = vreinterpret_s8_s32(vdup_n_s32(from.cast::<i32>().read_unaligned()));
                    vcvtq_f32_s32(vmovl_s16(vget_low_s16(vmovl_s8(four))))
                }
            }

            #[inline(always)]
            unsafe fn store_i8(to: *mut i8, x: Self::F) {
                // SAFETY: the caller's promise.
                unsafe {
                    let halves = vqmovn_s32(vcvtnq_s32_f32(x));
                    let bytes = vqmovn_s16(vcombine_s16(halves, halves));
                    to.cast::<i32>().write_unaligned(vget_lane_s32::<0>(vreinterpret_s32_s8(bytes)));
                }
            }

            #[inline(always)]
            unsafe fn parts_zero() -> Self::Parts {
                // SAFETY: the caller's promise.
                unsafe { [vdupq_n_f32(0.0), vdupq_n_f32(0.0)] }
            }

            #[inline(always)]
            unsafe fn parts_load(from: *const f32) -> Self::Parts {
                // SAFETY: the caller's promise.
                unsafe { [vld1q_f32(from), vld1q_f32(from.add(4))] }
            }

            #[inline(always)]
            unsafe fn parts_load_f16(from: *const u16) -> Self::Parts {
                // SAFETY: the caller's promise.
                unsafe { [Self::load_f16(from), Self::load_f16(from.add(4))] }
            }

            #[inline(always)]
            unsafe fn parts_fma(a: Self::Parts, b: Self::Parts, c: Self::Parts) -> Self::Parts {
                // SAFETY: the caller's promise.
                unsafe { [vfmaq_f32(c[0], a[0], b[0]), vfmaq_f32(c[1], a[1], b[1])] }
            }

            #[inline(always)]
            unsafe fn parts_sum(parts: [Self::Parts; 4]) -> [f32; 4] {
                // SAFETY: the caller's promise.
                unsafe {
                    let mut folded = [vdupq_n_f32(0.0); 4];
                    for (folded, parts) in folded.iter_mut().zip(parts) {
                        *folded = vaddq_f32(parts[0], parts[1]);
                    }
                    let [a, b, c, d] = columns(folded);
                    let mut sums = [0.0; 4];
                    vst1q_f32(sums.as_mut_ptr(), vaddq_f32(vaddq_f32(vaddq_f32(a, b), c), d));
                    sums
                }
            }

            #[inline(always)]
            unsafe fn transpose(from: *const f32, stride: usize, to: impl Fn(usize) -> *mut f32) {
                // SAFETY: the caller's promise.
                unsafe {
                    let mut rows = [vdupq_n_f32(0.0); 4];
                    for (row, lanes) in rows.iter_mut().enumerate() {
                        *lanes = vld1q_f32(from.add(row * stride));
                    }
                    for (column, lanes) in columns(rows).into_iter().enumerate() {
                        vst1q_f32(to(column), lanes);
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
                // SAFETY: the caller's promise; no key past the last one is read.
                unsafe {
                    for key in (0..count).step_by(4) {
                        let mut sums = [[vdupq_n_s32(0); 4]; R];
                        for at in (0..length).step_by(16) {
                            for four in 0..4 {
                                let which = (key + four).min(count - 1);
                                let bytes = vld1q_s8(keys.add(which * length + at));
                                for row in 0..R {
                                    let query = vld1q_s8(rows[row].add(at));
                                    sums[row][four] = $dot(sums[row][four], query, bytes);
                                }
                            }
                        }
                        for row in 0..R {
                            let [a, b, c, d] = sums[row];
                            let four = vpaddq_s32(vpaddq_s32(a, b), vpaddq_s32(c, d));
                            vst1q_f32(out[row].add(key), vcvtq_f32_s32(four));
                        }
                    }
                }
            }
        }
    };
}

implement!(Neon, products);
implement!(NeonDot, dot);

/// The columns of four rows.
#[inline(always)]
unsafe fn columns(rows: [float32x4_t; 4]) -> [float32x4_t; 4] {
    // SAFETY: the caller's promise.
    unsafe {
        let [a, b, c, d] = rows;
        let (even, odd) = (vtrn1q_f32(a, b), vtrn2q_f32(a, b));
        let (even_too, odd_too) = (vtrn1q_f32(c, d), vtrn2q_f32(c, d));
        [
            vcombine_f32(vget_low_f32(even), vget_low_f32(even_too)),
            vcombine_f32(vget_low_f32(odd), vget_low_f32(odd_too)),
            vcombine_f32(vget_high_f32(even), vget_high_f32(even_too)),
            vcombine_f32(vget_high_f32(odd), vget_high_f32(odd_too)),
        ]
    }
}

/// Adds products of bytes from -127 to 127, each of which stands in one of four sums: two products fit into 16 bits.
#[inline(always)]
unsafe fn products(sum: int32x4_t, a: int8x16_t, b: int8x16_t) -> int32x4_t {
    // SAFETY: the caller's promise.
    unsafe {
        let low = vmull_s8(vget_low_s8(a), vget_low_s8(b));
        vpadalq_s16(sum, vmlal_s8(low, vget_high_s8(a), vget_high_s8(b)))
    }
}

/// As [`products`], in one instruction, for which there is no stable function.
#[inline(always)]
unsafe fn dot(mut sum: int32x4_t, a: int8x16_t, b: int8x16_t) -> int32x4_t {
    // SAFETY: the caller's promise; it touches registers only.
    unsafe {
        std::arch::asm!(
            ".arch_extension dotprod",
            "sdot {sum:v}.4s, {a:v}.16b, {b:v}.16b",
            sum = inout(vreg) sum,
            a = in(vreg) a,
            b = in(vreg) b,
            options(pure, nomem, nostack, preserves_flags)
        );
    }
    sum
}
