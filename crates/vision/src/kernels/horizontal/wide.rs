//! With vectors: eight taps of as many outputs as there are lanes, four such at a time.

use super::scalar::mix_from;
use crate::kernels::wide::Wide;
use crate::taps::{FIXED_BITS, Taps};

/// # Safety
/// The instruction set of `W` is there.
#[inline(always)]
pub(in crate::kernels) unsafe fn mix<W: Wide>(samples: &[i16], taps: &Taps, out: &mut [i16]) {
    let stride = taps.stride();
    let block = 4 * W::LANES;
    let len = out.len();
    assert!(taps.len() == len && samples.len() >= taps.span().len() + stride);
    if len < block {
        return mix_from(samples, taps, 0, out);
    }
    let packed = if taps.most() <= 4 { 4 } else { stride };
    assert!(taps.packed().len() == len.div_ceil(block) * block * packed);
    // SAFETY: blocks are within the outputs; a start is within the span, and `stride` samples more are there; the
    // weights are packed for as many blocks, of as many lanes.
    unsafe {
        match stride / 8 {
            1 if taps.most() <= 4 => short_blocks::<W>(samples, taps, out),
            1 => blocks::<W, 1>(samples, taps, out),
            2 => blocks::<W, 2>(samples, taps, out),
            3 => blocks::<W, 3>(samples, taps, out),
            _ => blocks::<W, 0>(samples, taps, out),
        }
    }
}

/// All outputs, of `GROUPS` times eight taps, or as many as there are for 0.
#[inline(always)]
unsafe fn blocks<W: Wide, const GROUPS: usize>(samples: &[i16], taps: &Taps, out: &mut [i16]) {
    let groups = if GROUPS == 0 { taps.stride() / 8 } else { GROUPS };
    let block = 4 * W::LANES;
    let mut weights = taps.packed().as_ptr().cast::<u8>();
    let mut index = 0;
    while index < out.len() {
        // What is left is done from the end, some of it once more.
        let first = index.min(out.len() - block);
        // SAFETY: as in `mix`.
        unsafe {
            let starts = starts::<W>(taps, first);
            let mut sums = [W::zero(); 4];
            for group in 0..groups {
                for (at, sum) in sums.iter_mut().enumerate() {
                    let mut from = [std::ptr::null(); 4];
                    for (from, starts) in from.iter_mut().zip(starts).take(W::LANES) {
                        *from = samples.as_ptr().add(starts[at] + 8 * group).cast::<u8>();
                    }
                    *sum = W::madd(*sum, W::load_lanes(from), W::load(weights));
                    weights = weights.add(W::BYTES);
                }
            }
            let [a, b, c, d] = sums;
            let rounded = W::add32(W::sum_each(a, b, c, d), W::splat32(1 << (FIXED_BITS - 1)));
            let whole = W::sar32::<{ FIXED_BITS as i32 }>(rounded);
            W::store_half(out.as_mut_ptr().add(first).cast(), W::in_order(W::packs32(whole, whole)));
        }
        index += block;
    }
}

/// Where the taps of the outputs from `first` on begin, four in each lane. Read two at a time, since it is the loads that
/// take the time here.
#[inline(always)]
unsafe fn starts<W: Wide>(taps: &Taps, first: usize) -> [[usize; 4]; 4] {
    let mut starts = [[0; 4]; 4];
    for (lane, starts) in starts.iter_mut().enumerate().take(W::LANES) {
        for half in 0..2 {
            // SAFETY: as in `mix`, a block of outputs is in the table.
            let two = unsafe {
                let from = taps.starts().as_ptr().add(first + 4 * lane + 2 * half);
                u64::from_le(from.cast::<u64>().read_unaligned())
            };
            starts[2 * half] = two as u32 as usize;
            starts[2 * half + 1] = (two >> 32) as usize;
        }
    }
    starts
}

/// All outputs, of four taps at most.
#[inline(always)]
unsafe fn short_blocks<W: Wide>(samples: &[i16], taps: &Taps, out: &mut [i16]) {
    let block = 4 * W::LANES;
    let mut weights = taps.packed().as_ptr().cast::<u8>();
    let mut index = 0;
    while index < out.len() {
        // What is left is done from the end, some of it once more.
        let first = index.min(out.len() - block);
        // SAFETY: as in `mix`.
        unsafe {
            let starts = starts::<W>(taps, first);
            let mut sums = [W::zero(); 2];
            for (half, sum) in sums.iter_mut().enumerate() {
                let mut from = [std::ptr::null(); 8];
                for (at, from) in from.iter_mut().enumerate().take(2 * W::LANES) {
                    *from = samples.as_ptr().add(starts[at / 2][2 * half + at % 2]).cast::<u8>();
                }
                *sum = W::madd(*sum, W::load_half_lanes(from), W::load(weights));
                weights = weights.add(W::BYTES);
            }
            let rounded = W::add32(W::sum_pairs(sums[0], sums[1]), W::splat32(1 << (FIXED_BITS - 1)));
            let whole = W::sar32::<{ FIXED_BITS as i32 }>(rounded);
            W::store_half(out.as_mut_ptr().add(first).cast(), W::in_order(W::packs32(whole, whole)));
        }
        index += block;
    }
}

/// As [`mix`], of two channels that lie interleaved, where [`Taps::packed_pairs`] is there.
///
/// # Safety
/// The instruction set of `W` is there.
#[inline(always)]
pub(in crate::kernels) unsafe fn mix_pairs<W: Wide>(samples: &[i16], taps: &Taps, out: [&mut [i16]; 2]) {
    let block = 4 * W::LANES;
    let [even, odd] = out;
    let len = even.len();
    assert!(
        taps.len() == len && odd.len() == len && samples.len() >= 2 * (taps.span().len() + taps.stride())
    );
    assert!(len >= block && taps.packed_pairs().len() == len.div_ceil(block) * block * 8);
    let mut weights = taps.packed_pairs().as_ptr().cast::<u8>();
    let mut index = 0;
    while index < len {
        // What is left is done from the end, some of it once more.
        let first = index.min(len - block);
        // SAFETY: blocks are within the outputs; a start is within the span, and as many samples as are read are there;
        // the weights are packed for as many blocks, of as many lanes.
        unsafe {
            let order = W::splat_lane([0, 1, 4, 5, 8, 9, 12, 13, 2, 3, 6, 7, 10, 11, 14, 15]);
            let starts = starts::<W>(taps, first);
            let mut sums = [W::zero(); 4];
            for (at, sum) in sums.iter_mut().enumerate() {
                let mut from = [std::ptr::null(); 4];
                for (from, starts) in from.iter_mut().zip(starts).take(W::LANES) {
                    *from = samples.as_ptr().add(2 * starts[at]).cast::<u8>();
                }
                let both = W::shuffle8(W::load_lanes(from), order);
                *sum = W::madd(W::zero(), both, W::load(weights));
                weights = weights.add(W::BYTES);
            }
            let [a, b, c, d] = sums;
            let lines = W::unzip32(W::sum_pairs(a, b), W::sum_pairs(c, d));
            for (line, sums) in [&mut *even, &mut *odd].into_iter().zip(lines) {
                let rounded = W::add32(sums, W::splat32(1 << (FIXED_BITS - 1)));
                let whole = W::sar32::<{ FIXED_BITS as i32 }>(rounded);
                let packed = W::in_order(W::packs32(whole, whole));
                W::store_half(line.as_mut_ptr().add(first).cast(), packed);
            }
        }
        index += block;
    }
}
