//! What a caller can choose when a method is loaded.

/// Choices for [`Program::load_method_with`](crate::Program::load_method_with); the default chooses nothing.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct LoadOptions {
    /// Whether [`Method::profile`](crate::Method::profile) can be called. Runs that are not profiled are a little slower
    /// with it.
    pub profiling: bool,
}
