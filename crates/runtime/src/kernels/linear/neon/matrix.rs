//! Products of matrices of bytes (FEAT_I8MM): one instruction adds the products of 8 columns of 2 rows of the tile with 2
//! rows of x, twice as many as a dot product. For one row there is nothing in it.

use super::{Dot, Products, Rows};
use std::arch::aarch64::*;

pub(in super::super) struct Matrix;

impl Products for Matrix {
    #[inline(always)]
    unsafe fn four<const R: usize>(values: *const u8, x: [*const i8; R]) -> [Rows<int32x4_t>; R] {
        // SAFETY: the caller's promise.
        unsafe {
            if R == 1 {
                return Dot::four(values, x);
            }
            let steps = |part: usize, pair: usize| {
                let pair = vld1q_u8(values.add(64 * pair + 16 * part));
                [vandq_u8(pair, vdupq_n_u8(15)), vshrq_n_u8::<4>(pair)].map(|step| vreinterpretq_s32_u8(step))
            };
            products(x, steps)
        }
    }

    #[inline(always)]
    unsafe fn eight<const R: usize>(values: *const u8, x: [*const i8; R]) -> [Rows<int32x4_t>; R] {
        // SAFETY: the caller's promise.
        unsafe {
            if R == 1 {
                return Dot::eight(values, x);
            }
            let steps = |part: usize, pair: usize| {
                let at = values.add(128 * pair + 16 * part);
                [at, at.add(64)].map(|at| vreinterpretq_s32_u8(veorq_u8(vld1q_u8(at), vdupq_n_u8(128))))
            };
            products(x, steps)
        }
    }
}

/// The products of rows of x with a block, of which `steps` gives two steps of 4 columns of a part of 4 rows.
///
/// # Safety
/// The processor must have the instruction.
#[inline(always)]
unsafe fn products<const R: usize>(
    x: [*const i8; R],
    steps: impl Fn(usize, usize) -> [int32x4_t; 2],
) -> [Rows<int32x4_t>; R] {
    // SAFETY: the caller's promise, and of `x` that of the callers above.
    unsafe {
        let mut sums = [[vdupq_n_s32(0); 4]; R];
        // Rows of x by twos, the last one with itself if there is no other.
        let other = |row: usize| (row + 1).min(R - 1);
        let x: [[int8x16_t; 4]; R] = std::array::from_fn(|row| {
            std::array::from_fn(|pair| {
                vcombine_s8(vld1_s8(x[row].add(8 * pair)), vld1_s8(x[other(row)].add(8 * pair)))
            })
        });
        for part in 0..4 {
            // Of each two rows of x, sums for rows 0 and 1 of the part and for 2 and 3: `[00, 01, 10, 11]`, x's row second.
            let mut squares = [[vdupq_n_s32(0); 2]; R];
            for pair in 0..4 {
                let [first, second] = steps(part, pair);
                let rows = [vzip1q_s32(first, second), vzip2q_s32(first, second)];
                for row in (0..R).step_by(2) {
                    multiply(&mut squares[row][0], vreinterpretq_s8_s32(rows[0]), x[row][pair]);
                    multiply(&mut squares[row][1], vreinterpretq_s8_s32(rows[1]), x[row][pair]);
                }
            }
            for row in (0..R).step_by(2) {
                let [low, high] = squares[row];
                sums[other(row)][part] = vuzp2q_s32(low, high);
                sums[row][part] = vuzp1q_s32(low, high);
            }
        }
        sums
    }
}

/// # Safety
/// The processor must have the instruction.
#[inline(always)]
unsafe fn multiply(sums: &mut int32x4_t, values: int8x16_t, x: int8x16_t) {
    // SAFETY: it works on registers alone. The intrinsic is not stable yet.
    unsafe {
        std::arch::asm!(
            ".arch_extension i8mm",
            "smmla {sums:v}.4s, {values:v}.16b, {x:v}.16b",
            sums = inout(vreg) *sums,
            values = in(vreg) values,
            x = in(vreg) x,
            options(pure, nomem, nostack, preserves_flags)
        );
    }
}
