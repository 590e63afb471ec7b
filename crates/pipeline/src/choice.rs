//! Which variant of a package is loaded.

use crate::error::{Error, Refusal, Result};
use crate::package::manifest::Variant;
use crate::package::{Package, check_method};
use nearside_runtime::preflight::Coverage;
use nearside_runtime::{Code, Error as RuntimeError, LoadMode, LoadOptions, Method, Program};
use std::collections::{BTreeMap, BTreeSet};

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
        self.load_with(wanted, demands, mode, |program, variant, demands| {
            Ok(program.load_method_with(&variant.method, demands)?)
        })
    }

    /// Lets `load` load what it needs of the variant called `wanted`, or of the first that can run here and meets `demands`. It
    /// is given the demands that hold for each method.
    pub(crate) fn load_with<T>(
        &self,
        wanted: Option<&str>,
        demands: &LoadOptions,
        mode: LoadMode,
        load: impl Fn(&Program, &Variant, &LoadOptions) -> Result<T>,
    ) -> Result<(&Variant, T)> {
        first(self, wanted, |variant| match look(self, variant, demands, mode) {
            Err(error) if is_refusal(&error) => Err(error),
            // What else is wrong, loading says better: it compares the files with their hashes first.
            _ => {
                let (program, demands) = open(self, variant, demands, mode)?;
                load(&program, variant, &demands)
            }
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
    let program = package.look_at(variant)?;
    if variant.methods.is_none() {
        return Ok(program.check_method(&variant.method, demands, mode)?);
    }
    let names = variant.method_names();
    let each = each_alone(demands);
    for name in &names {
        program.check_method(name, &each, mode)?;
    }
    Ok(check_together(&program, &names, demands)?)
}

/// The program, held against manifest and demands, and what is demanded of each of its methods.
fn open(
    package: &Package,
    variant: &Variant,
    demands: &LoadOptions,
    mode: LoadMode,
) -> Result<(Program, LoadOptions)> {
    let program = package.open_program(variant, mode)?;
    for name in variant.method_names() {
        check_method(program.method_meta(name)?, variant, package)?;
    }
    if variant.methods.is_none() {
        return Ok((program, demands.clone()));
    }
    check_together(&program, &variant.method_names(), demands)?;
    Ok((program, each_alone(demands)))
}

/// What is demanded of each of several methods: one that looks tokens up in a table, say, need not run in a delegate.
fn each_alone(demands: &LoadOptions) -> LoadOptions {
    LoadOptions { min_coverage: None, delegates: None, ..demands.clone() }
}

/// Holds several methods to the coverage and the delegates that are demanded, as if they were one.
fn check_together(
    program: &Program,
    names: &[&str],
    demands: &LoadOptions,
) -> std::result::Result<(), RuntimeError> {
    if demands.min_coverage.is_none() && demands.delegates.is_none() {
        return Ok(());
    }
    let mut coverage = Coverage { delegated: Some(0), portable: 0 };
    let mut found = BTreeSet::new();
    let mut portable = BTreeMap::new();
    for name in names {
        let report = program.report(name)?;
        coverage.portable += report.coverage.portable;
        coverage.delegated = coverage.delegated.zip(report.coverage.delegated).map(|(all, more)| all + more);
        found.extend(program.method_meta(name)?.delegates.iter().cloned());
        for (operator, calls) in report.portable {
            *portable.entry(operator).or_default() += calls;
        }
    }
    let method = names.join("`, `");
    let portable = portable.into_iter().collect();
    if let Some(demanded) = &demands.delegates
        && (found.is_empty() || !found.iter().all(|id| demanded.contains(id)))
    {
        let (found, demanded) = (found.into_iter().collect(), demanded.clone());
        return Err(RuntimeError::DelegatesNotAllowed { method, found, demanded, portable });
    }
    match demands.min_coverage {
        Some(demanded) if coverage.share().unwrap_or(0.0) < demanded => {
            Err(RuntimeError::CoverageTooLow { method, coverage: coverage.share(), demanded, portable })
        }
        _ => Ok(()),
    }
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
