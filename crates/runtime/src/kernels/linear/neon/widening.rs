//! Products of 16 bits, for processors without dot products.

use super::{Products, Rows};
use std::arch::aarch64::*;

pub(in super::super) struct Widening;

impl Products for Widening {
    #[inline(always)]
    unsafe fn four<const R: usize>(values: *const u8, x: [*const i8; R]) -> [Rows<int32x4_t>; R] {
        // SAFETY: the caller's promise.
        unsafe {
            // 8 products of a value of at most 15 by one of at most 127 fit into 16 bits.
            let mut sums = [[[vdupq_n_s16(0); 2]; 4]; R];
            for pair in 0..4 {
                let x = x.map(|x| [columns(x, 2 * pair), columns(x, 2 * pair + 1)]);
                for part in 0..4 {
                    let pair = vld1q_u8(values.add(64 * pair + 16 * part));
                    let steps = [vandq_u8(pair, vdupq_n_u8(15)), vshrq_n_u8::<4>(pair)];
                    for (step, values) in
                        steps.map(|values| vreinterpretq_s8_u8(values)).into_iter().enumerate()
                    {
                        for row in 0..R {
                            let [low, high] = &mut sums[row][part];
                            *low = vmlal_s8(*low, vget_low_s8(values), vget_low_s8(x[row][step]));
                            *high = vmlal_high_s8(*high, values, x[row][step]);
                        }
                    }
                }
            }
            sums.map(|sums| sums.map(|[low, high]| vpaddq_s32(vpaddlq_s16(low), vpaddlq_s16(high))))
        }
    }

    #[inline(always)]
    unsafe fn eight<const R: usize>(values: *const u8, x: [*const i8; R]) -> [Rows<int32x4_t>; R] {
        // SAFETY: the caller's promise.
        unsafe {
            let mut sums = [[[vdupq_n_s32(0); 2]; 4]; R];
            for pair in 0..4 {
                let x = x.map(|x| [columns(x, 2 * pair), columns(x, 2 * pair + 1)]);
                for part in 0..4 {
                    let at = values.add(128 * pair + 16 * part);
                    let steps = [vld1q_u8(at), vld1q_u8(at.add(64))]
                        .map(|values| vreinterpretq_s8_u8(veorq_u8(values, vdupq_n_u8(128))));
                    for row in 0..R {
                        let [low, high] = &mut sums[row][part];
                        let x = x[row];
                        // Two products of at most 128 by 127 fit into 16 bits.
                        let products = vmull_s8(vget_low_s8(steps[0]), vget_low_s8(x[0]));
                        let products = vmlal_s8(products, vget_low_s8(steps[1]), vget_low_s8(x[1]));
                        *low = vpadalq_s16(*low, products);
                        let products = vmlal_high_s8(vmull_high_s8(steps[0], x[0]), steps[1], x[1]);
                        *high = vpadalq_s16(*high, products);
                    }
                }
            }
            sums.map(|sums| sums.map(|[low, high]| vpaddq_s32(low, high)))
        }
    }
}

/// The columns of a step, for each row of the tile.
///
/// # Safety
/// They must be there.
#[inline(always)]
unsafe fn columns(x: *const i8, step: usize) -> int8x16_t {
    // SAFETY: the caller's promise.
    unsafe { vreinterpretq_s8_s32(vdupq_n_s32(x.cast::<i32>().add(step).read_unaligned())) }
}
