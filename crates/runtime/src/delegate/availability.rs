//! Whether a delegate can be used here.

use super::{Check, DELEGATES, DelegateOptions};
use crate::error::{Error, Result};
use crate::file::MethodFile;
use crate::metadata::MethodMeta;
use crate::registry;

/// Whether a method that needs a delegate could be loaded here.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Availability {
    /// It is linked, and what it needs is there.
    Available,
    /// It is not part of this build.
    NotLinked,
    /// It is part of this build, but can't run here.
    Unavailable {
        /// Why, in one sentence.
        reason: String,
    },
}

/// Asks whether the delegate of this id can be used: whether it is linked, and whether what it needs is there. A
/// vendor's library is opened to find out, but settles nothing: options can still be given with the first load.
pub fn availability(id: &str) -> Availability {
    availability_with(id, &DelegateOptions::new())
}

/// As [`availability`], for a load with `options`.
fn availability_with(id: &str, options: &DelegateOptions) -> Availability {
    if !registry::registered_delegates().iter().any(|linked| linked == id) {
        return Availability::NotLinked;
    }
    let says = || {
        let available = registry::delegate_says_available(id);
        if available { Ok(()) } else { Err("it says that it can't run here".to_owned()) }
    };
    // A delegate that we don't know has no check of ours.
    let known = DELEGATES.iter().find(|delegate| delegate.id == id);
    let outcome = match known.map_or(&Check::None, |delegate| &delegate.check) {
        Check::None => says(),
        Check::Before(ours) => ours().and_then(|()| says()),
        Check::InPlace(ours) => ours(options),
    };
    match outcome {
        Ok(()) => Availability::Available,
        Err(reason) => Availability::Unavailable { reason },
    }
}

/// Says in words what ExecuTorch would report as a bare `NotFound` or `Internal` of a load with `options`.
///
/// # Errors
/// [`Error::DelegateMissing`] or [`Error::DelegateUnavailable`].
pub(crate) fn require(method: &MethodFile, options: &DelegateOptions) -> Result<()> {
    MethodMeta::new(method).delegates.iter().try_for_each(|id| require_one(&method.name, id, options))
}

/// As [`require`], for one delegate of a method.
pub(super) fn require_one(method: &str, id: &str, options: &DelegateOptions) -> Result<()> {
    let (method, delegate) = (method.to_owned(), id.to_owned());
    match availability_with(id, options) {
        Availability::Available => Ok(()),
        Availability::NotLinked => {
            Err(Error::DelegateMissing { method, delegate, linked: registry::registered_delegates() })
        }
        Availability::Unavailable { reason } => Err(Error::DelegateUnavailable { method, delegate, reason }),
    }
}
