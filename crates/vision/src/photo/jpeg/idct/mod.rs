//! Coefficients to samples, by the integer transforms of the Independent JPEG Group ("islow"), which Pillow, OpenCV and
//! most others use: the same numbers to the last bit. See `jidctint.c` and `jidctred.c` of libjpeg-turbo.

#[cfg(target_arch = "x86_64")]
pub(super) mod avx2;

use std::num::Wrapping;

use super::processor::Processor;

/// Where the coefficient read as number `k` lies in its block.
#[rustfmt::skip]
pub(super) const ZIGZAG: [u8; 64] = [
     0,  1,  8, 16,  9,  2,  3, 10,
    17, 24, 32, 25, 18, 11,  4,  5,
    12, 19, 26, 33, 40, 48, 41, 34,
    27, 20, 13,  6,  7, 14, 21, 28,
    35, 42, 49, 56, 57, 50, 43, 36,
    29, 22, 15, 23, 30, 37, 44, 51,
    58, 59, 52, 45, 38, 31, 39, 46,
    53, 60, 61, 54, 47, 55, 62, 63,
];

/// Fraction bits of the constants.
const CONST_BITS: usize = 13;
/// Fraction bits that are kept between the passes.
const PASS1_BITS: usize = 2;

/// Sums wrap or saturate where a damaged file makes them too large, in vectors as here.
type Int = Wrapping<i32>;

/// The square of samples of one block, in rows `stride` apart.
pub(super) struct Square<'a> {
    pub(super) samples: &'a mut [u8],
    pub(super) stride: usize,
}

impl Square<'_> {
    #[inline(always)]
    fn set_row<const N: usize>(&mut self, row: usize, values: [u8; N]) {
        if let Some(out) = self.samples.get_mut(row * self.stride..).and_then(|rest| rest.first_chunk_mut()) {
            *out = values;
        }
    }
}

/// Transforms a block to `size` by `size` samples: 8, 4, 2 or 1. `last` is the greatest number of a coefficient that is
/// not zero.
#[inline(always)]
pub(super) fn transform(
    processor: impl Processor,
    coefficients: &[i16; 64],
    steps: &[u16; 64],
    last: usize,
    size: usize,
    mut out: Square<'_>,
) {
    if last == 0 || size == 1 {
        // All transforms come to this.
        let level = Wrapping(i32::from(coefficients[0].wrapping_mul(steps[0] as i16)));
        let level = sample(level, 3);
        match size {
            8 => (0..8).for_each(|row| out.set_row(row, [level; 8])),
            4 => (0..4).for_each(|row| out.set_row(row, [level; 4])),
            2 => (0..2).for_each(|row| out.set_row(row, [level; 2])),
            _ => out.set_row(0, [level]),
        }
        return;
    }
    match size {
        8 => processor.to_eight(coefficients, steps, out),
        4 => processor.to_four(coefficients, steps, out),
        _ => processor.to_two(coefficients, steps, out),
    }
}

#[inline(always)]
pub(super) fn to_eight(coefficients: &[i16; 64], steps: &[u16; 64], mut out: Square<'_>) {
    let mut columns = [0_i32; 64];
    for at in 0..8 {
        let column = std::array::from_fn(|row| dequantise(coefficients, steps, row * 8 + at));
        for (row, value) in eight(column).into_iter().enumerate() {
            columns[row * 8 + at] = saturated(descale(value, CONST_BITS - PASS1_BITS));
        }
    }
    let rows = transposed(&columns);
    let mut samples = [0_u8; 64];
    for at in 0..8 {
        let row = std::array::from_fn(|column| Wrapping(rows[column * 8 + at]));
        for (column, value) in eight(row).into_iter().enumerate() {
            samples[column * 8 + at] = sample(value, CONST_BITS + PASS1_BITS + 3);
        }
    }
    let samples = transposed(&samples);
    for (row, values) in samples.as_chunks().0.iter().enumerate() {
        out.set_row::<8>(row, *values);
    }
}

/// Eight samples of eight frequencies, with [`CONST_BITS`] more fraction bits.
#[inline(always)]
fn eight(x: [Int; 8]) -> [Int; 8] {
    // Even part.
    let z1 = (x[2] + x[6]) * fix(4433);
    let (tmp2, tmp3) = (z1 + x[6] * fix(-15137), z1 + x[2] * fix(6270));
    let (tmp0, tmp1) = (short(x[0] + x[4]) << CONST_BITS, short(x[0] - x[4]) << CONST_BITS);
    let even = [tmp0 + tmp3, tmp1 + tmp2, tmp1 - tmp2, tmp0 - tmp3];
    // Odd part.
    let (z1, z2, z3, z4) = (x[7] + x[1], x[5] + x[3], short(x[7] + x[3]), short(x[5] + x[1]));
    let z5 = (z3 + z4) * fix(9633);
    let (z1, z2) = (z1 * fix(-7373), z2 * fix(-20995));
    let (z3, z4) = (z3 * fix(-16069) + z5, z4 * fix(-3196) + z5);
    let odd = [
        x[1] * fix(12299) + z1 + z4,
        x[3] * fix(25172) + z2 + z3,
        x[5] * fix(16819) + z2 + z4,
        x[7] * fix(2446) + z1 + z3,
    ];
    std::array::from_fn(|at| if at < 4 { even[at] + odd[at] } else { even[7 - at] - odd[7 - at] })
}

#[inline(always)]
pub(super) fn to_four(coefficients: &[i16; 64], steps: &[u16; 64], mut out: Square<'_>) {
    let mut columns = [0_i32; 32];
    for at in 0..8 {
        let column = std::array::from_fn(|row| dequantise(coefficients, steps, row * 8 + at));
        for (row, value) in four(column).into_iter().enumerate() {
            columns[row * 8 + at] = saturated(descale(value, CONST_BITS - PASS1_BITS + 1));
        }
    }
    for (row, columns) in columns.as_chunks::<8>().0.iter().enumerate() {
        let values = four(columns.map(Wrapping));
        out.set_row(row, values.map(|value| sample(value, CONST_BITS + PASS1_BITS + 3 + 1)));
    }
}

#[inline(always)]
fn four(x: [Int; 8]) -> [Int; 4] {
    let tmp0 = x[0] << (CONST_BITS + 1);
    let tmp2 = x[2] * fix(15137) + x[6] * fix(-6270);
    let (even0, even1) = (tmp0 + tmp2, tmp0 - tmp2);
    let odd1 = x[7] * fix(-1730) + x[5] * fix(11893) + x[3] * fix(-17799) + x[1] * fix(8697);
    let odd0 = x[7] * fix(-4176) + x[5] * fix(-4926) + x[3] * fix(7373) + x[1] * fix(20995);
    [even0 + odd0, even1 + odd1, even1 - odd1, even0 - odd0]
}

#[inline(always)]
pub(super) fn to_two(coefficients: &[i16; 64], steps: &[u16; 64], mut out: Square<'_>) {
    let mut columns = [0_i32; 16];
    for at in 0..8 {
        let column = std::array::from_fn(|row| dequantise(coefficients, steps, row * 8 + at));
        for (row, value) in two(column).into_iter().enumerate() {
            columns[row * 8 + at] = saturated(descale(value, CONST_BITS - PASS1_BITS + 2));
        }
    }
    for (row, columns) in columns.as_chunks::<8>().0.iter().enumerate() {
        let values = two(columns.map(Wrapping));
        out.set_row(row, values.map(|value| sample(value, CONST_BITS + PASS1_BITS + 3 + 2)));
    }
}

#[inline(always)]
fn two(x: [Int; 8]) -> [Int; 2] {
    let even = x[0] << (CONST_BITS + 2);
    let odd = x[7] * fix(-5906) + x[5] * fix(6967) + x[3] * fix(-10426) + x[1] * fix(29692);
    [even + odd, even - odd]
}

#[inline(always)]
fn fix(constant: i32) -> Int {
    Wrapping(constant)
}

/// The lower 16 bits.
#[inline(always)]
fn short(value: Int) -> Int {
    Wrapping(i32::from(value.0 as i16))
}

#[inline(always)]
fn saturated(value: i32) -> i32 {
    value.clamp(i16::MIN.into(), i16::MAX.into())
}

/// A coefficient times its step, in 16 bits as the vector code of others has it.
#[inline(always)]
fn dequantise(coefficients: &[i16; 64], steps: &[u16; 64], at: usize) -> Int {
    Wrapping(coefficients[at].wrapping_mul(steps[at] as i16).into())
}

#[inline(always)]
fn descale(value: Int, bits: usize) -> i32 {
    ((value + Wrapping(1 << (bits - 1))) >> bits).0
}

#[inline(always)]
fn sample(value: Int, bits: usize) -> u8 {
    (Wrapping(descale(value, bits)) + Wrapping(128)).0.clamp(0, 255) as u8
}

#[inline(always)]
fn transposed<T: Copy + Default>(square: &[T; 64]) -> [T; 64] {
    let mut out = [T::default(); 64];
    for row in 0..8 {
        for column in 0..8 {
            out[column * 8 + row] = square[row * 8 + column];
        }
    }
    out
}

#[cfg(all(test, target_arch = "x86_64"))]
mod tests {
    use super::super::processor::{Avx2, Plain};
    use super::*;

    /// What each size makes of a block.
    fn all(processor: impl Processor, coefficients: &[i16; 64], steps: &[u16; 64]) -> [[u8; 64]; 3] {
        [8, 4, 2].map(|size| {
            let mut samples = [0; 64];
            let out = Square { samples: &mut samples, stride: 8 };
            transform(processor, coefficients, steps, 63, size, out);
            samples
        })
    }

    #[test]
    fn vectors_give_the_same_samples_whatever_the_coefficients() {
        let Some(avx2) = Avx2::detect() else { return };
        let mut state = 1_u64;
        let mut random = || {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            (state >> 48) as u16
        };
        for round in 0..20_000 {
            // From what photos have to what only damaged files have.
            let shift = round % 16;
            let coefficients = std::array::from_fn(|_| random() as i16 >> shift);
            let steps = std::array::from_fn(|_| if round % 3 == 0 { 1 } else { random() >> (round % 15) });
            assert!(
                all(avx2, &coefficients, &steps) == all(Plain, &coefficients, &steps),
                "{coefficients:?} {steps:?}"
            );
        }
    }
}
