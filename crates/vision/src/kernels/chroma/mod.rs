//! Two rows of chroma mixed for 4:2:0 at its own size: three quarters of the nearer and a quarter of the farther, less
//! the middle of chroma. The result is 64 times that, so that mixing four of them the same way fills 16 bits.

mod scalar;
pub(super) mod wide;

pub(super) use scalar::{mix, mix_pairs};

/// What a nearer and a farther sample count.
const WEIGHTS: [i8; 2] = [48, 16];
/// 64 times the middle of chroma.
const MIDDLE: i16 = 64 * 128;
