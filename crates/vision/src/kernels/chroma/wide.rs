//! With vectors.

use super::scalar::mix_pairs_from;
use super::{MIDDLE, WEIGHTS};
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
            let low = W::madd_bytes(W::unpack_lo8(near, far), WEIGHTS);
            let high = W::madd_bytes(W::unpack_hi8(near, far), WEIGHTS);
            let [even, odd] = W::split16(low, high);
            let middle = W::splat16(MIDDLE);
            let (even, odd) = (W::sub16(even, middle), W::sub16(odd, middle));
            W::store(first.as_mut_ptr().add(index).cast(), even);
            W::store(second.as_mut_ptr().add(index).cast(), odd);
        }
        index += W::BYTES / 2;
    }
    mix_pairs_from(near, far, index, [first, second]);
}
