//! `cargo xtask bench`: Nearside beside its peers, one file a benchmark.

pub(crate) mod llm;
pub(crate) mod vision;
