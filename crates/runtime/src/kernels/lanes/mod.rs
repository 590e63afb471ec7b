//! Vectors of floats, one type an instruction set, over which the kernels' inner loops are written once.
//!
//! Every function of [`Lanes`] needs its instruction set, and is inlined into a caller that [`dispatch`] made for it.

#[cfg(target_arch = "x86_64")]
mod avx2;
#[cfg(target_arch = "x86_64")]
mod avx512;
mod dispatch;
mod exp;
#[cfg(target_arch = "aarch64")]
mod neon;
mod scalar;
#[cfg(target_arch = "x86_64")]
mod x86;

#[cfg(target_arch = "x86_64")]
pub(super) use avx2::Avx2;
#[cfg(target_arch = "x86_64")]
pub(super) use avx512::Avx512;
#[cfg(any(target_arch = "x86_64", target_arch = "aarch64"))]
pub(super) use dispatch::compiled;
pub(super) use dispatch::dispatch;
pub(super) use exp::sigmoid;
#[cfg(target_arch = "aarch64")]
pub(super) use neon::{Neon, NeonDot};
pub(super) use scalar::Scalar;

use super::instruction_set::InstructionSet;

/// Partial sums of a dot product: element `i` goes to sum `i % PARTS`. All instruction sets keep as many, so that a dot
/// product is added up in the same order whatever the width of their vectors.
pub(super) const PARTS: usize = 8;

/// Heads are padded to a multiple of so many elements where they are none.
pub(super) const PADDING: usize = 16;

/// Whether [`Lanes::WHOLE_WEIGHTS`] of the instruction set.
pub(super) fn has_whole_weights(set: InstructionSet) -> bool {
    let mut whole = false;
    // SAFETY: it computes nothing.
    unsafe { ask_for_whole_weights(set, &mut whole) };
    whole
}

dispatch! {
    unsafe fn ask_for_whole_weights(whole: &mut bool) = whole_weights_of
}

#[inline(always)]
unsafe fn whole_weights_of<L: Lanes>(whole: &mut bool) {
    *whole = L::WHOLE_WEIGHTS;
}

/// An instruction set's vectors.
///
/// # Safety
/// Of all functions: the processor has the instruction set, pointers are good for as many elements as are read or written.
pub(super) trait Lanes: Copy {
    /// Floats of a vector. Divides [`PADDING`].
    const LANES: usize;
    /// Rows and vectors of keys that have their products at once, for which there are registers: three for each.
    const PACKED: [usize; 2];
    /// Rows that have their products with four keys at once, each with [`Lanes::Parts`].
    const ROWS: usize;
    /// Vectors that a sum of values has at once, for each of four rows.
    const COLUMNS: usize;
    /// A vector.
    type F: Copy;
    /// [`PARTS`] partial sums.
    type Parts: Copy;

    unsafe fn splat(x: f32) -> Self::F;
    unsafe fn load(from: *const f32) -> Self::F;
    unsafe fn store(to: *mut f32, x: Self::F);
    unsafe fn add(a: Self::F, b: Self::F) -> Self::F;
    unsafe fn sub(a: Self::F, b: Self::F) -> Self::F;
    unsafe fn mul(a: Self::F, b: Self::F) -> Self::F;
    unsafe fn div(a: Self::F, b: Self::F) -> Self::F;
    /// The larger ones; `b` where one is no number.
    unsafe fn max(a: Self::F, b: Self::F) -> Self::F;
    /// The smaller ones; `b` where one is no number.
    unsafe fn min(a: Self::F, b: Self::F) -> Self::F;
    /// `a * b + c`, rounded once where the instruction set can.
    unsafe fn fma(a: Self::F, b: Self::F, c: Self::F) -> Self::F;
    unsafe fn abs(x: Self::F) -> Self::F;
    /// `yes` where `x` is below `limit`, else `no`: also where `x` is no number.
    unsafe fn if_below(x: Self::F, limit: f32, yes: Self::F, no: Self::F) -> Self::F;
    /// Two to the power of a whole number, from -126 to 127, that 1.5 * 2^23 was added to.
    unsafe fn power_of_two(shifted: Self::F) -> Self::F;
    /// e to the power of `x`, which is at most 0, to 3 units in the last place; 0 below -87.3.
    #[inline(always)]
    unsafe fn exp_of_negative(x: Self::F) -> Self::F {
        // SAFETY: the caller's promise.
        unsafe { exp::exp_of_negative::<Self>(x) }
    }
    /// The sum of all lanes, in an order of its own.
    unsafe fn sum(x: Self::F) -> f32;
    /// The largest of all lanes.
    unsafe fn largest(x: Self::F) -> f32;

    /// Half floats, as floats.
    unsafe fn load_f16(from: *const u16) -> Self::F;
    /// Rounded to the nearest half float, ties to even.
    unsafe fn store_f16(to: *mut u16, x: Self::F);
    unsafe fn load_i8(from: *const i8) -> Self::F;
    /// Rounded to the nearest whole number, ties to even. From -127 to 127 they must be.
    unsafe fn store_i8(to: *mut i8, x: Self::F);

    unsafe fn parts_zero() -> Self::Parts;
    unsafe fn parts_load(from: *const f32) -> Self::Parts;
    unsafe fn parts_load_f16(from: *const u16) -> Self::Parts;
    unsafe fn parts_fma(a: Self::Parts, b: Self::Parts, c: Self::Parts) -> Self::Parts;
    /// The sums of four at once, each `((u0 + u1) + u2) + u3` with `u[i] = part[i] + part[i + 4]`.
    unsafe fn parts_sum(parts: [Self::Parts; 4]) -> [f32; 4];

    /// Turns `LANES` rows of `LANES` floats, `stride` apart, on their side: column `i` goes to `to[i]`.
    unsafe fn transpose(from: *const f32, stride: usize, to: impl Fn(usize) -> *mut f32);

    /// Dot products of bytes, from -127 to 127, of `R` rows with `count` keys of `length` each, a multiple of [`PADDING`], as
    /// floats. `out[row]` may be written up to the next multiple of 16.
    unsafe fn dots_i8<const R: usize>(
        rows: [*const i8; R],
        keys: *const i8,
        count: usize,
        length: usize,
        out: [*mut f32; R],
    );

    /// Whether sums of values that are bytes are of products of whole numbers: [`Lanes::mix_i8`].
    const WHOLE_WEIGHTS: bool = false;

    /// Weights as whole numbers, rounded.
    unsafe fn store_i16(to: *mut i16, x: Self::F) {
        let mut floats = [0.0; PADDING];
        // SAFETY: the caller's promise.
        unsafe {
            Self::store(floats.as_mut_ptr(), x);
            for (lane, float) in floats[..Self::LANES].iter().enumerate() {
                *to.add(lane) = float.round_ties_even() as i16;
            }
        }
    }

    /// Adds `count` values, one after the other, of `length` bytes each, a multiple of [`PADDING`], to the sum of each of
    /// `R` rows, `length` floats one after the other: times their weights and the row's step. The products are summed as
    /// whole numbers, for which there must be 64 at most. Behind a row's weights is a 0.
    unsafe fn mix_i8<const R: usize>(
        weights: [*const i16; R],
        steps: [f32; R],
        values: *const i8,
        count: usize,
        length: usize,
        out: *mut f32,
    ) {
        for (row, weights) in weights.into_iter().enumerate() {
            for at in 0..length {
                // SAFETY: the caller's promise.
                unsafe {
                    let product = |slot: usize| {
                        i32::from(*weights.add(slot)) * i32::from(*values.add(slot * length + at))
                    };
                    let sum: i32 = (0..count).map(product).sum();
                    *out.add(row * length + at) += sum as f32 * steps[row];
                }
            }
        }
    }
}
