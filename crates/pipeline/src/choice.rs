//! Which variant of a package is loaded.

use crate::error::{Error, Refusal, Result};
use crate::loaded::check_method;
use crate::package::Package;
use crate::package::manifest::Variant;
use nearside_runtime::{Code, Error as RuntimeError, LoadMode, LoadOptions, Method};

/// Loads the variant called `wanted`, or the first that can run here and meets `demands`.
///
/// Where there is nothing to choose, the variant's own error comes through. Damaged and missing files are errors too,
/// never a reason to take the next variant: nobody would notice them.
pub(crate) fn load<'p>(
    package: &'p Package,
    wanted: Option<&str>,
    demands: &LoadOptions,
    mode: LoadMode,
) -> Result<(&'p Variant, Method)> {
    let only = match (wanted, package.manifest().variants.as_slice()) {
        (Some(name), _) => Some(package.variant(name)?),
        (None, [only]) => Some(only),
        (None, _) => None,
    };
    if let Some(variant) = only {
        return Ok((variant, load_variant(package, variant, demands, mode)?));
    }
    let mut reasons = Vec::new();
    for variant in &package.manifest().variants {
        match look_and_load(package, variant, demands, mode) {
            Ok(method) => return Ok((variant, method)),
            Err(error) if is_refusal(&error) => {
                tracing::info!(variant = variant.name, %error, "the variant is passed over");
                reasons.push(Refusal { variant: variant.name.clone(), error });
            }
            Err(error) => return Err(error),
        }
    }
    Err(Error::NoRunnableVariant { reasons })
}

/// Loads `variant`, unless a look at its description shows that it must be refused: then it has not been read whole.
fn look_and_load(
    package: &Package,
    variant: &Variant,
    demands: &LoadOptions,
    mode: LoadMode,
) -> Result<Method> {
    let look = || Ok(package.look_at(variant)?.check_method(&variant.method, demands, mode)?);
    match look() {
        Err(error) if is_refusal(&error) => Err(error),
        // What else is wrong, loading says better: it compares the files with their hashes first.
        _ => load_variant(package, variant, demands, mode),
    }
}

fn load_variant(
    package: &Package,
    variant: &Variant,
    demands: &LoadOptions,
    mode: LoadMode,
) -> Result<Method> {
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
