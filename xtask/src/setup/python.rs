//! Python: pip wherever it hides, and the environments that scripts run in.

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

/// A virtual environment with the packages of a lock.
pub(crate) struct Environment {
    /// What it is called, in words and as a folder.
    name: &'static str,
    folder: &'static str,
    /// Its lock, relative to the checkout.
    lock: &'static str,
    /// The lock of what is built from its source, with what `lock` brings.
    source: Option<&'static str>,
    /// What must be there once it is installed.
    imports: &'static str,
}

/// The one that exports models, and checks all Python here.
pub(crate) const EXPORT: Environment = Environment {
    name: "Python export",
    folder: "export-venv",
    lock: "export/requirements.lock",
    source: None,
    imports: "import pytest, ruff",
};

/// The one that `benches/pixel-peers` runs in.
pub(crate) const PIXEL_PEERS: Environment = Environment {
    name: "pixel peers",
    folder: "pixel-peers-venv",
    lock: "benches/pixel-peers/requirements.lock",
    source: None,
    imports: "import av, cv2, numpy, PIL",
};

/// The one that `benches/llm-peers` runs in: llama.cpp, built for this machine.
pub(crate) const LLM_PEERS: Environment = Environment {
    name: "language model peers",
    folder: "llm-peers-venv",
    lock: "benches/llm-peers/requirements.lock",
    source: Some("benches/llm-peers/source.lock"),
    imports: "import llama_cpp",
};

impl Environment {
    /// Where it is for the present lock.
    pub(crate) fn path(&self, ctx: &Context) -> Result<PathBuf> {
        let mut text = Vec::new();
        for lock in [self.lock].into_iter().chain(self.source) {
            text.extend(
                fs::read(ctx.root.join(lock))
                    .with_context(|| format!("{lock} is missing from this checkout"))?,
            );
        }
        Ok(ctx.cache.path(&format!("{}-{}", self.folder, &cache::sha256(&text)[..12])))
    }

    /// Its interpreter.
    pub(crate) fn python(&self, ctx: &Context) -> Result<PathBuf> {
        Ok(self.path(ctx)?.join("bin/python"))
    }

    /// Makes it unless it is there.
    pub(crate) fn ensure(&self, ctx: &Context) -> Result<()> {
        let venv = self.path(ctx)?;
        if venv.join(COMPLETE).is_file() {
            return Ok(());
        }
        progress::step(&ctx.cache, &format!("Install the {} environment", self.name), |step| {
            // Made in its place, for its scripts name their interpreter by path; the stamp comes last.
            cache::remove(&venv)?;
            step.run(Command::new(interpreter()?).args(["-m", "venv"]).arg(&venv))?;
            step.run(
                pip_of(&venv.join("bin/python"))
                    .args(["install", "--require-hashes", "--no-deps", "--only-binary=:all:"])
                    .args(["--no-cache-dir", "--requirement"])
                    .arg(ctx.root.join(self.lock)),
            )?;
            if let Some(source) = self.source {
                self.build(ctx, step, source)?;
            }
            if !quiet(venv.join("bin/python"), &["-c", self.imports]) {
                bail!("{} does not bring what `{}` asks for", self.lock, self.imports);
            }
            fs::write(venv.join(COMPLETE), "")?;
            Ok(())
        })
    }

    /// Builds and installs what the lock `source` names.
    fn build(&self, ctx: &Context, step: &Step, source: &str) -> Result<()> {
        let venv = self.path(ctx)?;
        let usual = std::env::var_os("PATH").unwrap_or_default();
        // CMake and Ninja come from the environment.
        let paths = [venv.join("bin")].into_iter().chain(std::env::split_paths(&usual));
        let paths = std::env::join_paths(paths)?;
        step.run(
            pip_of(&venv.join("bin/python"))
                .args([
                    "install",
                    "--require-hashes",
                    "--no-deps",
                    "--no-binary=:all:",
                    "--no-build-isolation",
                ])
                .args(["--no-cache-dir", "--requirement"])
                .arg(ctx.root.join(source))
                .env("PATH", paths),
        )
    }
}

/// A Python that all scripts here run on (`requires-python` in `export/pyproject.toml`).
fn interpreter() -> Result<&'static str> {
    let new_enough = "import sys, ensurepip, venv; sys.exit(sys.version_info < (3, 11))";
    let known = ["python3", "python3.13", "python3.12", "python3.11"];
    let found = known.into_iter().find(|python| quiet(python, &["-c", new_enough]));
    found.context("the scripts need Python 3.11 or later with its venv module, and python3 is older: install one beside it, as python3.11 or so")
}

/// The file in an environment that says that it was installed to the end.
const COMPLETE: &str = ".complete";
