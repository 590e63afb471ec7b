//! Lines of channels put together to pixels of four bytes, as screens and files take them.

mod scalar;
pub(super) mod wide;

pub(super) use scalar::four;
