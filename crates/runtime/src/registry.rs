//! What is linked into this process: delegates and operators.

use crate::bridge::ffi;

/// A delegate that registered itself.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Delegate {
    /// ExecuTorch's id, such as `XnnpackBackend`.
    pub name: String,
    /// Whether it says that it can run here.
    pub available: bool,
}

/// The delegates linked into this process, in the order in which they registered.
pub fn registered_delegates() -> Vec<Delegate> {
    ffi::start_log();
    ffi::registered_delegates()
        .into_iter()
        .map(|facts| Delegate { name: facts.name, available: facts.available })
        .collect()
}

/// The names of the operators that have a kernel, sorted, such as `aten::add.out`.
pub fn registered_operators() -> Vec<String> {
    ffi::start_log();
    let mut names = ffi::registered_operators();
    names.sort_unstable();
    names.dedup();
    names
}

/// Whether the operator has a kernel.
pub fn has_operator(name: &str) -> bool {
    ffi::start_log();
    cxx::let_cxx_string!(name = name);
    ffi::has_operator(&name)
}
