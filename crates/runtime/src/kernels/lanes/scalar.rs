//! Plain arrays: for processors without what the others need, and what they are compared with.

use super::{Lanes, PARTS};
use half::f16;

const LANES: usize = 8;

/// Eight floats at a time, without any instruction that a processor may lack.
#[derive(Clone, Copy)]
pub(in crate::kernels) struct Scalar;

#[inline(always)]
fn each(op: impl Fn(usize) -> f32) -> [f32; LANES] {
    let mut out = [0.0; LANES];
    for (lane, out) in out.iter_mut().enumerate() {
        *out = op(lane);
    }
    out
}

impl Lanes for Scalar {
    const LANES: usize = LANES;
    const PACKED: [usize; 2] = [2, 1];
    const ROWS: usize = 2;
    const COLUMNS: usize = 2;
    type F = [f32; LANES];
    type Parts = [f32; PARTS];

    #[inline(always)]
    unsafe fn splat(x: f32) -> Self::F {
        [x; LANES]
    }

    #[inline(always)]
    unsafe fn load(from: *const f32) -> Self::F {
        // SAFETY: the caller's promise; an array of floats is aligned as a float.
        unsafe { *from.cast::<Self::F>() }
    }

    #[inline(always)]
    unsafe fn store(to: *mut f32, x: Self::F) {
        // SAFETY: as above.
        unsafe { *to.cast::<Self::F>() = x }
    }

    #[inline(always)]
    unsafe fn add(a: Self::F, b: Self::F) -> Self::F {
        each(|lane| a[lane] + b[lane])
    }

    #[inline(always)]
    unsafe fn sub(a: Self::F, b: Self::F) -> Self::F {
        each(|lane| a[lane] - b[lane])
    }

    #[inline(always)]
    unsafe fn mul(a: Self::F, b: Self::F) -> Self::F {
        each(|lane| a[lane] * b[lane])
    }

    #[inline(always)]
    unsafe fn div(a: Self::F, b: Self::F) -> Self::F {
        each(|lane| a[lane] / b[lane])
    }

    #[inline(always)]
    unsafe fn max(a: Self::F, b: Self::F) -> Self::F {
        each(|lane| if a[lane] > b[lane] { a[lane] } else { b[lane] })
    }

    #[inline(always)]
    unsafe fn min(a: Self::F, b: Self::F) -> Self::F {
        each(|lane| if a[lane] < b[lane] { a[lane] } else { b[lane] })
    }

    #[inline(always)]
    unsafe fn fma(a: Self::F, b: Self::F, c: Self::F) -> Self::F {
        each(|lane| a[lane] * b[lane] + c[lane])
    }

    #[inline(always)]
    unsafe fn abs(x: Self::F) -> Self::F {
        each(|lane| x[lane].abs())
    }

    #[inline(always)]
    unsafe fn if_below(x: Self::F, limit: f32, yes: Self::F, no: Self::F) -> Self::F {
        each(|lane| if x[lane] < limit { yes[lane] } else { no[lane] })
    }

    #[inline(always)]
    unsafe fn power_of_two(shifted: Self::F) -> Self::F {
        each(|lane| f32::from_bits((shifted[lane].to_bits() << 23).wrapping_add(1f32.to_bits())))
    }

    #[inline(always)]
    unsafe fn sum(x: Self::F) -> f32 {
        x.iter().sum()
    }

    #[inline(always)]
    unsafe fn largest(x: Self::F) -> f32 {
        x.iter().copied().fold(f32::NEG_INFINITY, f32::max)
    }

    #[inline(always)]
    unsafe fn load_f16(from: *const u16) -> Self::F {
        // SAFETY: the caller's promise.
        let halves = unsafe { *from.cast::<[u16; LANES]>() };
        each(|lane| f16::from_bits(halves[lane]).to_f32_const())
    }

    #[inline(always)]
    unsafe fn store_f16(to: *mut u16, x: Self::F) {
        // SAFETY: the caller's promise.
        unsafe { *to.cast::<[u16; LANES]>() = x.map(|x| f16::from_f32_const(x).to_bits()) }
    }

    #[inline(always)]
    unsafe fn load_i8(from: *const i8) -> Self::F {
        // SAFETY: the caller's promise.
        let bytes = unsafe { *from.cast::<[i8; LANES]>() };
        each(|lane| bytes[lane].into())
    }

    #[inline(always)]
    unsafe fn store_i8(to: *mut i8, x: Self::F) {
        // SAFETY: the caller's promise.
        unsafe { *to.cast::<[i8; LANES]>() = x.map(|x| x.round_ties_even() as i8) }
    }

    #[inline(always)]
    unsafe fn parts_zero() -> Self::Parts {
        [0.0; PARTS]
    }

    #[inline(always)]
    unsafe fn parts_load(from: *const f32) -> Self::Parts {
        // SAFETY: the caller's promise.
        unsafe { Self::load(from) }
    }

    #[inline(always)]
    unsafe fn parts_load_f16(from: *const u16) -> Self::Parts {
        // SAFETY: the caller's promise.
        unsafe { Self::load_f16(from) }
    }

    #[inline(always)]
    unsafe fn parts_fma(a: Self::Parts, b: Self::Parts, c: Self::Parts) -> Self::Parts {
        // SAFETY: it needs nothing.
        unsafe { Self::fma(a, b, c) }
    }

    #[inline(always)]
    unsafe fn parts_sum(parts: [Self::Parts; 4]) -> [f32; 4] {
        parts.map(|p| (((p[0] + p[4]) + (p[1] + p[5])) + (p[2] + p[6])) + (p[3] + p[7]))
    }

    #[inline(always)]
    unsafe fn transpose(from: *const f32, stride: usize, to: impl Fn(usize) -> *mut f32) {
        for column in 0..LANES {
            let to = to(column);
            for row in 0..LANES {
                // SAFETY: the caller's promise.
                unsafe { *to.add(row) = *from.add(row * stride + column) };
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
        for (row, out) in rows.into_iter().zip(out) {
            for key in 0..count {
                let mut sum = 0i32;
                for at in 0..length {
                    // SAFETY: the caller's promise.
                    sum += unsafe { i32::from(*row.add(at)) * i32::from(*keys.add(key * length + at)) };
                }
                // SAFETY: the caller's promise.
                unsafe { *out.add(key) = sum as f32 };
            }
        }
    }
}
