//! Writing results.

use crate::error::{Error, Result};
use serde::Serialize;
use std::io::Write;

/// Writes one JSON document.
pub(crate) fn json(document: &impl Serialize) -> Result<()> {
    let mut text = serde_json::to_string_pretty(document).map_err(|error| Error::Write(error.into()))?;
    text.push('\n');
    write(&text)
}

/// Writes text as it is.
pub(crate) fn write(text: &str) -> Result<()> {
    let mut stdout = std::io::stdout().lock();
    stdout.write_all(text.as_bytes()).and_then(|()| stdout.flush()).map_err(Error::Write)
}

/// Writes a JSON document as one line.
pub(crate) fn line(document: &impl Serialize) -> Result<()> {
    let mut text = serde_json::to_string(document).map_err(|error| Error::Write(error.into()))?;
    text.push('\n');
    write(&text)
}
