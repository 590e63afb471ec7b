//! Rows of bytes turned on their side, 16 at a time.

mod scalar;
pub(super) mod wide;

pub(super) use scalar::sixteen;
