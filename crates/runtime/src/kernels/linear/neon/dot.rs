//! Dot products of bytes (FEAT_DotProd): one instruction adds the products of 4 columns of 4 rows.

use super::{Products, Rows};
use std::arch::aarch64::*;

pub(in super::super) struct Dot;

impl Products for Dot {
    #[inline(always)]
    unsafe fn four<const R: usize>(values: *const u8, x: [*const i8; R]) -> [Rows<int32x4_t>; R] {
        // SAFETY: the caller's promise.
        unsafe {
            let mut sums = [[vdupq_n_s32(0); 4]; R];
            let x = x.map(|x| [vld1q_s8(x), vld1q_s8(x.add(16))]);
            for half in 0..2 {
                let values = values.add(128 * half);
                for part in 0..4 {
                    let pairs = [vld1q_u8(values.add(16 * part)), vld1q_u8(values.add(64 + 16 * part))];
                    let steps = pairs.map(|pair| [vandq_u8(pair, vdupq_n_u8(15)), vshrq_n_u8::<4>(pair)]);
                    for row in 0..R {
                        let (sum, x) = (&mut sums[row][part], x[row][half]);
                        dot::<0>(sum, vreinterpretq_s8_u8(steps[0][0]), x);
                        dot::<1>(sum, vreinterpretq_s8_u8(steps[0][1]), x);
                        dot::<2>(sum, vreinterpretq_s8_u8(steps[1][0]), x);
                        dot::<3>(sum, vreinterpretq_s8_u8(steps[1][1]), x);
                    }
                }
            }
            sums
        }
    }

    #[inline(always)]
    unsafe fn eight<const R: usize>(values: *const u8, x: [*const i8; R]) -> [Rows<int32x4_t>; R] {
        // SAFETY: the caller's promise.
        unsafe {
            let mut sums = [[vdupq_n_s32(0); 4]; R];
            let x = x.map(|x| [vld1q_s8(x), vld1q_s8(x.add(16))]);
            for half in 0..2 {
                for part in 0..4 {
                    let at = values.add(256 * half + 16 * part);
                    let steps: [_; 4] = std::array::from_fn(|step| {
                        vreinterpretq_s8_u8(veorq_u8(vld1q_u8(at.add(64 * step)), vdupq_n_u8(128)))
                    });
                    for row in 0..R {
                        let (sum, x) = (&mut sums[row][part], x[row][half]);
                        dot::<0>(sum, steps[0], x);
                        dot::<1>(sum, steps[1], x);
                        dot::<2>(sum, steps[2], x);
                        dot::<3>(sum, steps[3], x);
                    }
                }
            }
            sums
        }
    }
}

/// Adds the products of 4 columns of 4 rows with the columns of x in a lane.
///
/// # Safety
/// The processor must have the instruction.
#[inline(always)]
unsafe fn dot<const LANE: usize>(sum: &mut int32x4_t, values: int8x16_t, x: int8x16_t) {
    // SAFETY: it works on registers alone. The intrinsic is not stable yet.
    unsafe {
        std::arch::asm!(
            ".arch_extension dotprod",
            "sdot {sum:v}.4s, {values:v}.16b, {x:v}.4b[{lane}]",
            sum = inout(vreg) *sum,
            values = in(vreg) values,
            x = in(vreg) x,
            lane = const LANE,
            options(pure, nomem, nostack, preserves_flags)
        );
    }
}
