//! With vectors: eight taps of as many outputs as there are lanes, four such at a time.

use super::scalar::mix_from;
use crate::kernels::wide::Wide;
use crate::taps::{FIXED_BITS, Taps};

/// # Safety
/// The instruction set of `W` is there.
#[inline(always)]
pub(in crate::kernels) unsafe fn mix<W: Wide>(samples: &[i16], taps: &Taps, out: &mut [i16]) {
    let stride = taps.stride();
    let block = 8 * W::LANES;
    let len = out.len();
    assert!(taps.len() == len && samples.len() >= taps.span().len() + stride);
    if len < block {
        return mix_from(samples, taps, 0, out);
    }
    let mut index = 0;
    while index < len {
        // What is left is done from the end, some of it once more.
        let first = index.min(len - block);
        // SAFETY: `first + block` outputs are in the table and in `out`; a start is within the span, and `stride`
        // samples more are there.
        unsafe {
            let low = four_each::<W>(samples, taps, first);
            let high = four_each::<W>(samples, taps, first + 4 * W::LANES);
            let packed = W::in_order(W::packs32(low, high));
            W::store(out.as_mut_ptr().add(first).cast(), packed);
        }
        index += block;
    }
}

/// The outputs from `first` on, four in each lane, as 32-bit numbers.
#[inline(always)]
unsafe fn four_each<W: Wide>(samples: &[i16], taps: &Taps, first: usize) -> W::V {
    // SAFETY: as in `mix`.
    unsafe {
        let stride = taps.stride();
        let starts = taps.starts().as_ptr().add(first);
        let weights = taps.weights().as_ptr().add(first * stride);
        let mut sums = [W::zero(); 4];
        for (at, sum) in sums.iter_mut().enumerate() {
            let mut from = [[std::ptr::null(); 4]; 2];
            for lane in 0..W::LANES {
                let output = 4 * lane + at;
                from[0][lane] = samples.as_ptr().add(*starts.add(output) as usize).cast::<u8>();
                from[1][lane] = weights.add(output * stride).cast::<u8>();
            }
            for _ in 0..stride / 8 {
                *sum = W::madd(*sum, W::load_lanes(from[0]), W::load_lanes(from[1]));
                for pointer in from.as_flattened_mut() {
                    *pointer = pointer.wrapping_add(16);
                }
            }
        }
        let [a, b, c, d] = sums;
        let rounded = W::add32(W::sum_each(a, b, c, d), W::splat32(1 << (FIXED_BITS - 1)));
        W::sar32::<{ FIXED_BITS as i32 }>(rounded)
    }
}
