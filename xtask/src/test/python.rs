//! The tests of the Python exporter, some of which run programs by the command line.

use super::Run;
use super::summary;
use crate::progress::Step;
use crate::setup::{Context, python};
use anyhow::Result;
use std::fs;
use std::process::Command;

pub(super) fn run(ctx: &Context, step: &Step) -> Result<Run> {
    // The program that its test `commands` runs, built as for all packages' tests: features are the same as in the Rust
    // suite, and nothing is compiled anew.
    step.run(ctx.cargo().args(["test", "--workspace", "--no-run", "--test", "commands"]))?;
    let report = ctx.target.join("pytest.xml");
    // Best effort: of an earlier run, and then overwritten, unless pytest doesn't start.
    let _ = fs::remove_file(&report);
    let succeeded = step.succeeds(
        Command::new(python::EXPORT.python(ctx)?)
            .args(["-m", "pytest", "-q", "-p", "no:cacheprovider", "-p", "no:logging"])
            .arg(format!("--junitxml={}", report.display()))
            .env("NEARSIDE_CLI", ctx.libraries().join("nearside"))
            .env("PYTHONPATH", ctx.root.join("export/src"))
            .env("PYTHONDONTWRITEBYTECODE", "1")
            .current_dir(ctx.root.join("export")),
    )?;
    let counts = fs::read_to_string(&report).ok().and_then(|xml| summary::junit(&xml)).unwrap_or_default();
    Ok(Run { counts, succeeded, failures: None })
}
