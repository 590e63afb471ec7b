//! `nearside-export` of this checkout, in its environment.

use crate::setup::{Context, python};
use anyhow::{Context as _, Result, bail};
use std::ffi::OsString;
use std::path::Path;
use std::process::Command;

/// Runs it to its end; what it says of its progress is seen as it comes.
pub(super) fn run(ctx: &Context, arguments: &[OsString]) -> Result<()> {
    run_with(ctx, arguments, None)
}

/// As [`run`], with the command `nearside` for programs that need it.
pub(super) fn run_with(ctx: &Context, arguments: &[OsString], nearside: Option<&Path>) -> Result<()> {
    let python = python::EXPORT.python(ctx)?;
    let mut command = Command::new(&python);
    if let Some(nearside) = nearside {
        command.env("NEARSIDE_CLI", nearside);
    }
    let status = command
        .args(["-m", "nearside_export"])
        .args(arguments)
        .env("PYTHONPATH", ctx.root.join("export/src"))
        .env("PYTHONDONTWRITEBYTECODE", "1")
        .status()
        .with_context(|| format!("cannot start {}", python.display()))?;
    if status.success() { Ok(()) } else { bail!("nearside-export ended with {status}") }
}
