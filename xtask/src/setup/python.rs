//! Python: pip wherever it hides, and the environment that exports models.

use super::Context;
use super::host::quiet;
use super::pins::WHEEL_PYTHON;
use crate::cache;
use crate::progress::{self, Step};
use anyhow::{Context as _, Result, bail};
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

/// A `pip` command: the system's, or that of a virtual environment made for it where the system has none.
pub(crate) fn pip(ctx: &Context, step: &Step) -> Result<Command> {
    let mut python = PathBuf::from("python3");
    if !quiet("python3", &["-m", "pip", "--version"]) {
        let venv = ctx.cache.path("pip-venv");
        python = venv.join("bin/python");
        if !quiet(&python, &["-m", "pip", "--version"]) {
            cache::remove(&venv)?;
            step.run(Command::new("python3").args(["-m", "venv"]).arg(&venv))?;
        }
    }
    Ok(pip_of(&python))
}

fn pip_of(python: &Path) -> Command {
    let mut command = Command::new(python);
    command.args(["-m", "pip", "--disable-pip-version-check", "--no-input"]);
    command
}

/// Downloads the one wheel that `requirement` names, with its hash, for `platform`, below `scratch`.
pub(crate) fn download(
    ctx: &Context,
    step: &Step,
    requirement: &str,
    platform: &str,
    scratch: &Path,
) -> Result<PathBuf> {
    let requirements = scratch.join("requirements.txt");
    fs::write(&requirements, format!("{requirement}\n"))?;
    let downloads = scratch.join("download");
    step.run(
        pip(ctx, step)?
            .args(["download", "--no-deps", "--only-binary=:all:", "--require-hashes", "--no-cache-dir"])
            .args(["--platform", platform, "--python-version", WHEEL_PYTHON])
            .arg("--requirement")
            .arg(&requirements)
            .arg("--dest")
            .arg(&downloads),
    )?;
    Ok(fs::read_dir(&downloads)?.next().context("pip downloaded nothing")??.path())
}

/// The lock of the export environment, relative to the checkout.
const LOCK: &str = "export/requirements.lock";

/// Where the export environment for the present lock is.
pub(crate) fn venv(ctx: &Context) -> Result<PathBuf> {
    let lock = ctx.root.join(LOCK);
    let text = fs::read(&lock)
        .with_context(|| format!("{LOCK} is missing: this checkout has no Python exporter"))?;
    Ok(ctx.cache.path(&format!("export-venv-{}", &cache::sha256(&text)[..12])))
}

/// Makes the export environment unless it is there.
pub(crate) fn ensure(ctx: &Context) -> Result<()> {
    let venv = venv(ctx)?;
    if venv.join(COMPLETE).is_file() {
        return Ok(());
    }
    progress::step(&ctx.cache, "Install the Python export environment", |step| {
        // Made in its place, for its scripts name their interpreter by path; the stamp comes last.
        cache::remove(&venv)?;
        step.run(Command::new(interpreter()?).args(["-m", "venv"]).arg(&venv))?;
        step.run(
            pip_of(&venv.join("bin/python"))
                .args(["install", "--require-hashes", "--no-deps", "--only-binary=:all:", "--no-cache-dir"])
                .arg("--requirement")
                .arg(ctx.root.join(LOCK)),
        )?;
        if !quiet(venv.join("bin/python"), &["-c", "import pytest, ruff"]) {
            bail!("{LOCK} does not bring pytest and ruff");
        }
        fs::write(venv.join(COMPLETE), "")?;
        Ok(())
    })
}

/// A Python that the exporter runs on (`requires-python` in `export/pyproject.toml`).
fn interpreter() -> Result<&'static str> {
    let new_enough = "import sys, ensurepip, venv; sys.exit(sys.version_info < (3, 11))";
    let known = ["python3", "python3.13", "python3.12", "python3.11"];
    let found = known.into_iter().find(|python| quiet(python, &["-c", new_enough]));
    found.context("the exporter needs Python 3.11 or later with its venv module, and python3 is older: install one beside it, as python3.11 or so")
}

/// The file in an environment that says that it was installed to the end.
const COMPLETE: &str = ".complete";
