//! Along the row: 16-bit numbers mixed into fewer, or more, of the same.

mod scalar;
pub(super) mod wide;

pub(super) use scalar::{mix, mix_pairs};
