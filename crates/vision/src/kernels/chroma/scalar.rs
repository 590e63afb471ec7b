//! The readable truth that every other implementation must equal.

use super::{MIDDLE, WEIGHTS};

/// Mixes one channel.
#[inline(always)]
pub(in crate::kernels) fn mix(near: &[u8], far: &[u8], out: &mut [i16]) {
    for ((out, &near), &far) in out.iter_mut().zip(near).zip(far) {
        *out = mixed(near, far);
    }
}

/// Mixes two channels that lie interleaved.
pub(in crate::kernels) fn mix_pairs(near: &[u8], far: &[u8], out: [&mut [i16]; 2]) {
    mix_pairs_from(near, far, 0, out);
}

/// As [`mix_pairs`], for the columns from `from` on.
pub(super) fn mix_pairs_from(near: &[u8], far: &[u8], from: usize, [first, second]: [&mut [i16]; 2]) {
    let pairs = near.as_chunks::<2>().0.iter().zip(far.as_chunks::<2>().0);
    for ((first, second), (near, far)) in first.iter_mut().zip(second).zip(pairs).skip(from) {
        *first = mixed(near[0], far[0]);
        *second = mixed(near[1], far[1]);
    }
}

#[inline(always)]
fn mixed(near: u8, far: u8) -> i16 {
    let [nearer, farther] = WEIGHTS.map(i16::from);
    nearer * i16::from(near) + farther * i16::from(far) - MIDDLE
}

/// Widens one channel: 256 times what it is.
#[inline(always)]
pub(in crate::kernels) fn widen(row: &[u8], out: &mut [i16]) {
    for (out, &chroma) in out.iter_mut().zip(row) {
        *out = (i16::from(chroma) - 128) << 8;
    }
}

/// Widens two channels that lie interleaved.
#[inline(always)]
pub(in crate::kernels) fn widen_pairs(row: &[u8], [first, second]: [&mut [i16]; 2]) {
    for ((first, second), pair) in first.iter_mut().zip(second).zip(row.as_chunks::<2>().0) {
        *first = (i16::from(pair[0]) - 128) << 8;
        *second = (i16::from(pair[1]) - 128) << 8;
    }
}
