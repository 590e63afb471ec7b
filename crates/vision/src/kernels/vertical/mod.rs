//! Down the columns: rows of bytes mixed into one row of 16-bit numbers.

mod quads;
mod scalar;
pub(super) mod wide;

pub(super) use scalar::{mix, mix_p010, mix_pairs};
