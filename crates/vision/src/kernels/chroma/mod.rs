//! Chroma for 4:2:0 at its own size, less its middle.
//!
//! Two rows are mixed, three quarters of the nearer and a quarter of the farther, to 64 times the result, so that mixing
//! four of them the same way fills 16 bits. Where chroma is not interpolated, the row is widened to as many bits at once.

mod scalar;
pub(super) mod wide;

pub(super) use scalar::{mix, mix_pairs, widen, widen_pairs};

/// What a nearer and a farther sample count.
const WEIGHTS: [i8; 2] = [48, 16];
/// 64 times the middle of chroma.
const MIDDLE: i16 = 64 * 128;
