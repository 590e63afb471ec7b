//! Which variant of a package is loaded.

use crate::error::{Error, Refusal, Result};
use crate::loaded::check_method;
use crate::package::Package;
use crate::package::manifest::Variant;
use nearside_runtime::{Code, Error as RuntimeError, LoadMode, LoadOptions, Method};

impl Package {
    /// The variant called `wanted`, or the first that can run here and meets `demands`. Its files are looked at, not read
    /// whole: opening its program compares them with their hashes.
    ///
    /// # Errors
    /// [`Error::NoSuchVariant`]; [`Error::NoRunnableVariant`] if each of several was refused, else the variant's own:
    /// those of [`Package::open_program`], and what the runtime has against loading it.
    pub fn choose(&self, wanted: Option<&str>, demands: &LoadOptions, mode: LoadMode) -> Result<&Variant> {
        first(self, wanted, |variant| look(self, variant, demands, mode)).map(|(variant, ())| variant)
    }

    /// Loads the method of the variant called `wanted`, or of the first that can run here and meets `demands`.
    ///
    /// # Errors
    /// Those of [`Package::choose`]; [`Error::Mismatch`] if program and manifest differ.
    pub fn load_method(
        &self,
        wanted: Option<&str>,
        demands: &LoadOptions,
        mode: LoadMode,
    ) -> Result<(&Variant, Method)> {
        first(self, wanted, |variant| match look(self, variant, demands, mode) {
            Err(error) if is_refusal(&error) => Err(error),
            // What else is wrong, loading says better: it compares the files with their hashes first.
            _ => load(self, variant, demands, mode),
        })
    }
}

/// What `attempt` gives for the variant called `wanted`, or for the first that it does not refuse.
///
/// Where there is nothing to choose, the variant's own error comes through. So does that of a variant which would be chosen
/// but is damaged or not complete: nobody would notice if the next one were taken for it.
fn first<'p, T>(
    package: &'p Package,
    wanted: Option<&str>,
    attempt: impl Fn(&Variant) -> Result<T>,
) -> Result<(&'p Variant, T)> {
    let only = match (wanted, package.manifest().variants.as_slice()) {
        (Some(name), _) => Some(package.variant(name)?),
        (None, [only]) => Some(only),
        (None, _) => None,
    };
    if let Some(variant) = only {
        return Ok((variant, attempt(variant)?));
    }
    let mut reasons = Vec::new();
    for variant in &package.manifest().variants {
        match attempt(variant) {
            Ok(found) => return Ok((variant, found)),
            Err(error) if is_refusal(&error) => {
                tracing::info!(variant = variant.name, %error, "the variant is passed over");
                reasons.push(Refusal { variant: variant.name.clone(), error });
            }
            Err(error) => return Err(error),
        }
    }
    Err(Error::NoRunnableVariant { reasons })
}

/// Checks whether `variant` can be loaded, before anything of its size is read or allocated.
fn look(package: &Package, variant: &Variant, demands: &LoadOptions, mode: LoadMode) -> Result<()> {
    Ok(package.look_at(variant)?.check_method(&variant.method, demands, mode)?)
}

fn load(package: &Package, variant: &Variant, demands: &LoadOptions, mode: LoadMode) -> Result<Method> {
    let program = package.open_program(variant, mode)?;
    check_method(program.method_meta(&variant.method)?, variant, package)?;
    Ok(program.load_method_with(&variant.method, demands)?)
}

/// Whether a sound variant can't run here, or not as demanded: another one may.
fn is_refusal(error: &Error) -> bool {
    let Error::Runtime(error) = error else { return false };
    match &**error {
        RuntimeError::DelegateMissing { .. }
        | RuntimeError::DelegateUnavailable { .. }
        | RuntimeError::OperatorsMissing { .. }
        | RuntimeError::DeviceMissing { .. }
        | RuntimeError::CoverageTooLow { .. }
        | RuntimeError::DelegatesNotAllowed { .. }
        | RuntimeError::OverBudget { .. }
        | RuntimeError::OutOfMemory { .. } => true,
        RuntimeError::ExecuTorch { code, .. } => matches!(
            code,
            Code::NotSupported
                | Code::NotImplemented
                | Code::OperatorMissing
                | Code::NotFound
                | Code::MemoryAllocationFailed
                | Code::OutOfResources
                | Code::DelegateInvalidCompatibility
                | Code::DelegateMemoryAllocationFailed
        ),
        _ => false,
    }
}
