//! XNNPACK.

mod graph;

pub(crate) use graph::{Calls, check};

/// ExecuTorch's id.
pub(crate) const ID: &str = "XnnpackBackend";
