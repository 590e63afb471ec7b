//! With vectors: two rows at a time, interleaved, so that one instruction multiplies both and adds.

use super::quads::Quads;
use super::scalar::{SHIFT, mix_from, mix_pairs_from};
use crate::kernels::rows::Pairs;
use crate::kernels::wide::Wide;
use crate::kernels::{Rows, SAMPLE_BITS};

/// # Safety
/// The instruction set of `W` is there.
#[inline(always)]
pub(in crate::kernels) unsafe fn mix<W: Wide>(rows: &Rows<'_>, weights: &[i16], out: &mut [i16]) {
    let len = out.len();
    assert!(len <= rows.len() && weights.len() >= rows.count().next_multiple_of(2));
    if len < W::BYTES {
        return mix_from(rows, weights, 0, out);
    }
    let pairs = rows.pairs();
    let last = len - W::BYTES;
    let mut column = 0;
    // SAFETY: columns up to `len` are in all rows and in `out`; the weights are as many as rows, rounded up to even.
    unsafe {
        if let Some(second) = between_two(rows, weights) {
            // What is left at the end is done from there, some of it once more.
            while column < len {
                two::<W>(rows.get(0), rows.get(1), second, column.min(last), out);
                column += W::BYTES;
            }
            return;
        }
        if W::HAS_DOT
            && let Some(quads) = Quads::of(rows, weights)
        {
            while column < len {
                let at = column.min(last);
                let [low, high] = quads.mix::<W>(at);
                W::store_lanes(out.as_mut_ptr().add(at).cast(), low, high);
                column += W::BYTES;
            }
            return;
        }
        while column + 2 * W::BYTES <= len {
            block::<W, 2>(&pairs, weights, column, out);
            column += 2 * W::BYTES;
        }
        while column < len {
            block::<W, 1>(&pairs, weights, column.min(last), out);
            column += W::BYTES;
        }
    }
}

/// The weight of the second row with 15 fraction bits, if there are two rows and it is below 1.
fn between_two(rows: &Rows<'_>, weights: &[i16]) -> Option<i16> {
    let two = rows.count() == 2 && weights[0] > 0 && weights[1] >= 0;
    two.then(|| 2 * weights[1])
}

/// A vector of bytes from `column` on: the first row, and the weighted difference of the second, which comes to the same
/// as both weighted, since their weights sum to 1.
#[inline(always)]
unsafe fn two<W: Wide>(first: &[u8], second: &[u8], weight: i16, column: usize, out: &mut [i16]) {
    const ONE: i8 = 1 << SAMPLE_BITS;
    // SAFETY: as in `mix`.
    unsafe {
        let (a, b) = (W::load(first.as_ptr().add(column)), W::load(second.as_ptr().add(column)));
        let weight = W::splat16(weight);
        let mut mixed = [W::unpack_lo8(a, b), W::unpack_hi8(a, b)];
        for half in &mut mixed {
            let difference = W::mulhrs16(W::madd_bytes(*half, [-ONE, ONE]), weight);
            *half = W::add16(W::madd_bytes(*half, [ONE, 0]), difference);
        }
        W::store_lanes(out.as_mut_ptr().add(column).cast(), mixed[0], mixed[1]);
    }
}

/// `N` vectors of bytes from `column` on.
#[inline(always)]
unsafe fn block<W: Wide, const N: usize>(pairs: &Pairs, weights: &[i16], column: usize, out: &mut [i16]) {
    // SAFETY: as in `mix`.
    unsafe {
        let mut sums = [[W::splat32(1 << (SHIFT - 1)); 4]; N];
        let mut weight = weights.as_ptr();
        let mut row = pairs.first.add(column);
        for _ in 0..pairs.regular {
            add::<W, N>(&mut sums, row, row.wrapping_add(pairs.stride), weight);
            row = row.wrapping_add(2 * pairs.stride);
            weight = weight.add(2);
        }
        if let Some([first, second]) = pairs.rest {
            add::<W, N>(&mut sums, first.add(column), second.add(column), weight);
        }
        let mut to = out.as_mut_ptr().add(column).cast::<u8>();
        for [a, b, c, d] in sums {
            let low = W::packs32(W::sar32::<{ SHIFT as i32 }>(a), W::sar32::<{ SHIFT as i32 }>(b));
            let high = W::packs32(W::sar32::<{ SHIFT as i32 }>(c), W::sar32::<{ SHIFT as i32 }>(d));
            W::store_lanes(to, low, high);
            to = to.add(2 * W::BYTES);
        }
    }
}

/// Adds two rows by their weights.
#[inline(always)]
unsafe fn add<W: Wide, const N: usize>(
    sums: &mut [[W::V; 4]; N],
    first: *const u8,
    second: *const u8,
    weights: *const i16,
) {
    // SAFETY: as in `mix`.
    unsafe {
        let zero = W::zero();
        let weights = W::splat32(weights.cast::<i32>().read_unaligned());
        for (vector, sums) in sums.iter_mut().enumerate() {
            let (a, b) = (W::load(first.add(vector * W::BYTES)), W::load(second.add(vector * W::BYTES)));
            let (low, high) = (W::unpack_lo8(a, b), W::unpack_hi8(a, b));
            sums[0] = W::madd(sums[0], W::unpack_lo8(low, zero), weights);
            sums[1] = W::madd(sums[1], W::unpack_hi8(low, zero), weights);
            sums[2] = W::madd(sums[2], W::unpack_lo8(high, zero), weights);
            sums[3] = W::madd(sums[3], W::unpack_hi8(high, zero), weights);
        }
    }
}

/// As [`mix`], of two channels that lie interleaved, each to a line of its own.
///
/// # Safety
/// The instruction set of `W` is there.
#[inline(always)]
pub(in crate::kernels) unsafe fn mix_pairs<W: Wide>(rows: &Rows<'_>, weights: &[i16], out: [&mut [i16]; 2]) {
    let [even, odd] = out;
    let len = even.len();
    assert!(2 * len <= rows.len() && odd.len() == len);
    assert!(weights.len() >= rows.count().next_multiple_of(2));
    let step = W::BYTES / 2;
    if len < step {
        return mix_pairs_from(rows, weights, 0, [even, odd]);
    }
    let pairs = rows.pairs();
    let second = between_two(rows, weights);
    let quads = if W::HAS_DOT { Quads::of(rows, weights) } else { None };
    let mut column = 0;
    while column < len {
        // What is left at the end is done from there, some of it once more.
        let at = column.min(len - step);
        // SAFETY: twice as many bytes as there are columns are in all rows; the weights are as many as rows, rounded up
        // to even.
        unsafe {
            let mixed = match (second, &quads) {
                (Some(second), _) => two_pairs::<W>(rows.get(0), rows.get(1), second, 2 * at),
                (None, Some(quads)) => {
                    let [low, high] = quads.mix::<W>(2 * at);
                    W::split16(low, high)
                }
                (None, None) => pairs_block::<W>(&pairs, weights, 2 * at),
            };
            W::store(even.as_mut_ptr().add(at).cast(), mixed[0]);
            W::store(odd.as_mut_ptr().add(at).cast(), mixed[1]);
        }
        column += step;
    }
}

/// As [`two`], of even and odd bytes from `byte` on.
#[inline(always)]
unsafe fn two_pairs<W: Wide>(first: &[u8], second: &[u8], weight: i16, byte: usize) -> [W::V; 2] {
    // SAFETY: as in `mix_pairs`.
    unsafe {
        let (a, b) = (W::load(first.as_ptr().add(byte)), W::load(second.as_ptr().add(byte)));
        let weight = W::splat16(weight);
        let (a, b) = (split::<W>(a), split::<W>(b));
        let mut mixed = a;
        for (at, mixed) in mixed.iter_mut().enumerate() {
            let difference = W::shl16::<{ SAMPLE_BITS as i32 }>(W::sub16(b[at], a[at]));
            *mixed = W::add16(W::shl16::<{ SAMPLE_BITS as i32 }>(a[at]), W::mulhrs16(difference, weight));
        }
        mixed
    }
}

/// Even and odd bytes from `byte` on.
#[inline(always)]
unsafe fn pairs_block<W: Wide>(pairs: &Pairs, weights: &[i16], byte: usize) -> [W::V; 2] {
    // SAFETY: as in `mix_pairs`.
    unsafe {
        let mut sums = [[W::splat32(1 << (SHIFT - 1)); 2]; 2];
        let mut weight = weights.as_ptr();
        let mut row = pairs.first.add(byte);
        for _ in 0..pairs.regular {
            add_pairs::<W>(&mut sums, row, row.wrapping_add(pairs.stride), weight);
            row = row.wrapping_add(2 * pairs.stride);
            weight = weight.add(2);
        }
        if let Some([first, second]) = pairs.rest {
            add_pairs::<W>(&mut sums, first.add(byte), second.add(byte), weight);
        }
        let [[a, b], [c, d]] = sums;
        [
            W::packs32(W::sar32::<{ SHIFT as i32 }>(a), W::sar32::<{ SHIFT as i32 }>(b)),
            W::packs32(W::sar32::<{ SHIFT as i32 }>(c), W::sar32::<{ SHIFT as i32 }>(d)),
        ]
    }
}

/// Adds even and odd bytes of two rows by the rows' weights.
#[inline(always)]
unsafe fn add_pairs<W: Wide>(
    sums: &mut [[W::V; 2]; 2],
    first: *const u8,
    second: *const u8,
    weights: *const i16,
) {
    // SAFETY: as in `mix_pairs`.
    unsafe {
        let weights = W::splat32(weights.cast::<i32>().read_unaligned());
        let (a, b) = (split::<W>(W::load(first)), split::<W>(W::load(second)));
        for (at, sums) in sums.iter_mut().enumerate() {
            sums[0] = W::madd(sums[0], W::unpack_lo16(a[at], b[at]), weights);
            sums[1] = W::madd(sums[1], W::unpack_hi16(a[at], b[at]), weights);
        }
    }
}

/// Even bytes and odd bytes, widened.
#[inline(always)]
unsafe fn split<W: Wide>(bytes: W::V) -> [W::V; 2] {
    // SAFETY: as the caller promises.
    unsafe { [W::and(bytes, W::splat16(0xff)), W::shr16::<8>(bytes)] }
}
