//! What an app demands of a method before it is loaded.

use super::{Checked, coverage};
use crate::error::{Error, Result};
use crate::file::MethodFile;
use crate::load_options::LoadOptions;
use crate::memory::MemoryNeed;
use crate::metadata::MethodMeta;

/// Checks that enough runs in delegates, and in those demanded.
pub(super) fn check_coverage(method: &MethodFile, checked: &Checked, options: &LoadOptions) -> Result<()> {
    let portable = || coverage::portable(method).into_iter().collect();
    if let Some(demanded) = &options.delegates {
        let found = MethodMeta::new(method).delegates;
        if found.is_empty() || !found.iter().all(|id| demanded.contains(id)) {
            return Err(Error::DelegatesNotAllowed {
                method: method.name.clone(),
                found,
                demanded: demanded.clone(),
                portable: portable(),
            });
        }
    }
    let Some(demanded) = options.min_coverage else { return Ok(()) };
    let coverage = coverage::count(method, &checked.graphs).share();
    if coverage.unwrap_or(0.0) >= demanded {
        return Ok(());
    }
    Err(Error::CoverageTooLow { method: method.name.clone(), coverage, demanded, portable: portable() })
}

/// Checks that it takes no more memory than it may.
pub(super) fn check_budget(method: &MethodFile, need: &MemoryNeed, options: &LoadOptions) -> Result<()> {
    match options.memory_budget_bytes {
        Some(budget_bytes) if need.total_bytes() > budget_bytes => {
            Err(Error::OverBudget { method: method.name.clone(), need: Box::new(need.clone()), budget_bytes })
        }
        _ => Ok(()),
    }
}
