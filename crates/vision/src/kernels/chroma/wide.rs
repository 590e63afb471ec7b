//! With vectors.

use super::scalar::mix_pairs_from;
use super::{MIDDLE, SHIFT};
use crate::kernels::wide::Wide;

/// # Safety
/// The instruction set of `W` is there.
#[inline(always)]
pub(in crate::kernels) unsafe fn mix_pairs<W: Wide>(near: &[u8], far: &[u8], out: [&mut [i16]; 2]) {
    let [first, second] = out;
    let len = first.len();
    assert!(near.len() >= 2 * len && far.len() >= 2 * len && second.len() == len);
    let mut index = 0;
    while index + W::BYTES / 2 <= len {
        // SAFETY: as many pairs as half a vector has bytes are in all lines.
        unsafe {
            let [near, far] = [W::load(near.as_ptr().add(2 * index)), W::load(far.as_ptr().add(2 * index))];
            let low = W::splat16(0xff);
            let even = mixed::<W>(W::and(near, low), W::and(far, low));
            let odd = mixed::<W>(W::shr16::<8>(near), W::shr16::<8>(far));
            W::store(first.as_mut_ptr().add(index).cast(), even);
            W::store(second.as_mut_ptr().add(index).cast(), odd);
        }
        index += W::BYTES / 2;
    }
    mix_pairs_from(near, far, index, [first, second]);
}

#[inline(always)]
unsafe fn mixed<W: Wide>(near: W::V, far: W::V) -> W::V {
    // SAFETY: as the caller promises.
    unsafe {
        let sum = W::add16(W::add16(near, near), W::add16(near, far));
        W::shl16::<SHIFT>(W::sub16(sum, W::splat16(MIDDLE)))
    }
}
