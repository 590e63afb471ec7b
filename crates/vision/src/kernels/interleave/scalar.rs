//! The readable truth that every other implementation must equal.

/// Three lines of bytes as pixels of four, the last the same in all.
pub(in crate::kernels) fn four([a, b, c]: [&[u8]; 3], fourth: u8, out: &mut [u8]) {
    for (((out, &a), &b), &c) in out.as_chunks_mut::<4>().0.iter_mut().zip(a).zip(b).zip(c) {
        *out = [a, b, c, fourth];
    }
}
