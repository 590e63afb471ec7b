//! `nearside-export` of this checkout, in its environment.

use crate::setup::{Context, python};
use anyhow::{Context as _, Result, bail};
use std::ffi::OsString;
use std::process::Command;

/// Runs it to its end; what it says of its progress is seen as it comes.
pub(super) fn run(ctx: &Context, arguments: &[OsString]) -> Result<()> {
    let python = python::EXPORT.python(ctx)?;
    let status = Command::new(&python)
        .args(["-m", "nearside_export"])
        .args(arguments)
        .env("PYTHONPATH", ctx.root.join("export/src"))
        .env("PYTHONDONTWRITEBYTECODE", "1")
        .status()
        .with_context(|| format!("cannot start {}", python.display()))?;
    if status.success() { Ok(()) } else { bail!("nearside-export ended with {status}") }
}
