//! How much of a method runs in delegates.

use crate::delegate::DelegateGraph;
use crate::file::{Instruction, MethodFile};
use std::collections::BTreeMap;

/// Operator calls, by where they run.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Coverage {
    /// Calls inside delegates. `None` if a delegate's payload does not tell.
    pub delegated: Option<usize>,
    /// Calls that stayed on portable kernels.
    pub portable: usize,
}

impl Coverage {
    /// Calls inside delegates / all calls, from 0 to 1. `None` where it is not known.
    pub fn share(&self) -> Option<f64> {
        match (self.delegated, self.portable) {
            // Whatever is inside, nothing is outside.
            (None, 0) => Some(1.0),
            (None, _) => None,
            (Some(0), 0) => Some(0.0),
            (Some(delegated), portable) => Some(delegated as f64 / (delegated + portable) as f64),
        }
    }
}

/// Counts the calls of `method`, whose delegated parts hold `graphs`.
pub(super) fn count(method: &MethodFile, graphs: &[Option<DelegateGraph>]) -> Coverage {
    let mut coverage = Coverage { delegated: Some(0), portable: 0 };
    for step in &method.instructions {
        match step {
            Instruction::Kernel { .. } => coverage.portable += 1,
            Instruction::Delegate { delegate, .. } => {
                let inside = graphs[*delegate].as_ref().map(|graph| graph.operators.values().sum::<usize>());
                coverage.delegated = coverage.delegated.zip(inside).map(|(sum, inside)| sum + inside);
            }
            _ => {}
        }
    }
    coverage
}

/// The operators that stayed on portable kernels, with their calls.
pub(super) fn portable(method: &MethodFile) -> BTreeMap<String, usize> {
    let mut calls = BTreeMap::new();
    for step in &method.instructions {
        if let Instruction::Kernel { operator, .. } = step {
            *calls.entry(method.operators[*operator].clone()).or_default() += 1;
        }
    }
    calls
}
