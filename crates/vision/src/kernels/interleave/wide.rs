//! With vectors.

use crate::kernels::wide::Wide;

/// # Safety
/// The instruction set of `W` is there.
#[inline(always)]
pub(in crate::kernels) unsafe fn four<W: Wide>(lines: [&[u8]; 3], fourth: u8, out: &mut [u8]) {
    let len = out.len() / 4;
    assert!(lines.iter().all(|line| line.len() >= len));
    if len < W::BYTES {
        return super::four(lines, fourth, out);
    }
    let mut index = 0;
    while index < len {
        // What is left is done from the end, some of it once more.
        let first = index.min(len - W::BYTES);
        // SAFETY: `first + W::BYTES` pixels are in all lines and in `out`.
        unsafe {
            let a = W::load(lines[0].as_ptr().add(first));
            let b = W::load(lines[1].as_ptr().add(first));
            let c = W::load(lines[2].as_ptr().add(first));
            let d = W::splat16(i16::from_le_bytes([fourth; 2]));
            W::store_pixels(out.as_mut_ptr().add(4 * first), a, b, c, d);
        }
        index += W::BYTES;
    }
}
