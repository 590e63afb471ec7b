//! With vectors: two rows at a time, interleaved, so that one instruction multiplies both and adds.

use super::scalar::{SHIFT, mix_from};
use crate::kernels::Rows;
use crate::kernels::rows::Pairs;
use crate::kernels::wide::Wide;

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
        while column + 2 * W::BYTES <= len {
            block::<W, 2>(&pairs, weights, column, out);
            column += 2 * W::BYTES;
        }
        // What is left is done from the end, some of it once more.
        while column < len {
            block::<W, 1>(&pairs, weights, column.min(last), out);
            column += W::BYTES;
        }
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
