//! What a caller can choose when a method is loaded.

use crate::delegate::DelegateOptions;

/// Choices and demands for [`Program::load_method_with`](crate::Program::load_method_with); the default has none.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct LoadOptions {
    /// Options of delegates. Those of delegates that the method does not use are ignored.
    pub delegate_options: DelegateOptions,
    /// The least share of operator calls that must be in delegates, 0 to 1. A method whose delegates do not tell what is
    /// in them meets no demand above 0 unless nothing stayed portable.
    pub min_coverage: Option<f64>,
    /// Ids of the delegates that the method may use. It must use one of them, and no other.
    pub delegates: Option<Vec<String>>,
    /// The most memory that loading the method may take, bytes ([`MemoryNeed::total_bytes`](crate::memory::MemoryNeed::total_bytes)).
    pub memory_budget_bytes: Option<u64>,
    /// Whether [`Method::profile`](crate::Method::profile) can be called. Runs that are not profiled are a little slower
    /// with it.
    pub profiling: bool,
}
