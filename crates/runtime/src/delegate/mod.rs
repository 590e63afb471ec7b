//! ExecuTorch's delegates.

pub(crate) mod xnnpack;

use crate::error::{Error, Result};
use crate::file::MethodFile;
use crate::metadata::MethodMeta;
use crate::registry;
use std::collections::BTreeMap;

/// What a delegate's payload says of itself.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct DelegateGraph {
    /// The operators inside, with their calls.
    pub(crate) operators: BTreeMap<String, usize>,
    /// Bytes of weights.
    pub(crate) constant_bytes: u64,
    /// What the delegate keeps of them in a form of its own, about.
    pub(crate) packed_bytes: u64,
    /// What lies between its operators, at most.
    pub(crate) workspace_bytes: u64,
    /// For each argument of a call, whether it is written.
    pub(crate) written: Vec<bool>,
}

/// Says in words what ExecuTorch would report as a bare `NotFound`.
pub(crate) fn require(method: &MethodFile) -> Result<()> {
    let wanted = MethodMeta::new(method).delegates;
    if wanted.is_empty() {
        return Ok(());
    }
    let linked = registry::registered_delegates();
    for wanted in wanted {
        match linked.iter().find(|delegate| delegate.name == *wanted) {
            None => {
                return Err(Error::DelegateMissing {
                    method: method.name.clone(),
                    delegate: wanted,
                    linked: linked.into_iter().map(|delegate| delegate.name).collect(),
                });
            }
            Some(delegate) if !delegate.available => {
                return Err(Error::DelegateUnavailable { method: method.name.clone(), delegate: wanted });
            }
            Some(_) => {}
        }
    }
    Ok(())
}
