//! What is linked into this process: delegates and operators.

use crate::bridge::ffi;

/// The ids of the delegates linked into this process, such as `XnnpackBackend`, in the order in which they registered.
/// Whether one can run here is another question: [`availability`](crate::delegate::availability).
pub fn registered_delegates() -> Vec<String> {
    ffi::start_log();
    ffi::registered_delegates()
}

/// Whether a registered delegate says that it can run here.
pub(crate) fn delegate_says_available(id: &str) -> bool {
    ffi::start_log();
    cxx::let_cxx_string!(id = id);
    ffi::delegate_says_available(&id)
}

/// The names of the operators that have a kernel, sorted, such as `aten::add.out`.
pub fn registered_operators() -> Vec<String> {
    ffi::start_log();
    let mut names = ffi::registered_operators();
    names.sort_unstable();
    names.dedup();
    names
}

/// The names of those that are ours: every method is loaded with them, but no other runtime has them.
pub fn own_operators() -> Vec<String> {
    ffi::own_operators()
}

/// Whether the operator has a kernel.
pub fn has_operator(name: &str) -> bool {
    ffi::start_log();
    cxx::let_cxx_string!(name = name);
    ffi::has_operator(&name)
}
