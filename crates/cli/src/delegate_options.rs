//! Delegates' options from the command line.

use crate::error::{Error, Result};
use nearside_pipeline::runtime::delegate::{DelegateOptions, OptionValue, openvino};

/// Reads options as `DELEGATE.OPTION=VALUE`. Call it while the process has one thread.
pub(crate) fn read(arguments: &[String]) -> Result<DelegateOptions> {
    let mut options = DelegateOptions::new();
    for argument in arguments {
        let parts = argument.split_once('=').and_then(|(name, value)| {
            let (delegate, option) = name.split_once('.')?;
            Some((delegate, option, value))
        });
        let Some((delegate, option, value)) = parts else {
            return Err(Error::Usage(format!("`{argument}` is not DELEGATE.OPTION=VALUE")));
        };
        options = options.with(DelegateOptions::parse(delegate, &[(option, value)])?);
    }
    if options.get("OpenvinoBackend", "allow_reduced_precision") == Some(&OptionValue::Bool(false)) {
        // SAFETY: no other thread has been started yet.
        unsafe { openvino::forbid_reduced_precision() }?;
    }
    Ok(options)
}
