//! The file of packed weights. ExecuTorch goes on without it if it can't be opened, and only logs that; so it is
//! tried first.

use super::INFO;
use super::options::{PACKED_CACHE_PATH, WEIGHT_CACHE};
use crate::delegate::{DelegateOptions, OptionValue};
use crate::error::{Error, Result};
use std::fs::File;
use std::path::Path;

pub(super) fn prepare(options: &mut DelegateOptions) -> Result<()> {
    let Some(OptionValue::Text(path)) = options.get(INFO.id, PACKED_CACHE_PATH).cloned() else {
        return Ok(());
    };
    let refused = |reason: String| Error::DelegateOptionRefused {
        delegate: INFO.id.to_owned(),
        option: PACKED_CACHE_PATH.to_owned(),
        value: path.clone(),
        reason,
    };
    match options.get(INFO.id, WEIGHT_CACHE) {
        Some(OptionValue::Bool(false)) => return Err(refused(format!("{WEIGHT_CACHE} is false"))),
        Some(_) => {}
        // Without it ExecuTorch ignores the path.
        None => options.set(INFO.id, WEIGHT_CACHE, OptionValue::Bool(true))?,
    }
    require_writable(Path::new(&path)).map_err(refused)
}

/// Opens the file as ExecuTorch will.
fn require_writable(path: &Path) -> std::result::Result<(), String> {
    let file = File::options()
        .read(true)
        .write(true)
        .create(true)
        .truncate(false)
        .open(path)
        .map_err(|error| format!("the file can't be written: {error}"))?;
    if !file.metadata().is_ok_and(|metadata| metadata.is_file()) {
        return Err("it is not a regular file".into());
    }
    Ok(())
}
