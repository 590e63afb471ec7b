//! `cargo xtask bench llm`: language models beside llama.cpp, on the same weights.

use crate::models;
use crate::progress;
use crate::setup::tools::{self, Tool};
use crate::setup::{self, Context, Part, python};
use anyhow::{Context as _, Result, bail};
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

const MODEL: &str = "smollm2-135m-instruct";

/// Sets up, makes what is compared where it is not there yet, and runs the script with `args`.
pub(crate) fn run(ctx: &Context, args: &[String]) -> Result<()> {
    setup::require(ctx, &[Part::Compiler, Part::ExecuTorch, Part::Python])?;
    set_up(ctx)?;
    let nearside = models::nearside(ctx)?;
    let python = python::LLM_PEERS.python(ctx)?;
    let script = |name: &str| ctx.root.join("benches/llm-peers").join(name);
    let weights = models::weights_of(ctx, MODEL)?;
    let gguf = |kind: &str| requantised(ctx, &python, &script("requantise.py"), Path::new(&weights), kind);
    let package = |variant: &str| models::package_of(ctx, MODEL, variant);
    let mut command = Command::new(&python);
    command
        .arg(script("compare.py"))
        .arg("--nearside")
        .arg(&nearside)
        .arg("--four")
        .arg(package("nearside-8da4w")?)
        .arg("--eight")
        .arg(package("nearside-int8")?)
        .arg("--q4")
        .arg(gguf("q4_0")?)
        .arg("--q8")
        .arg(gguf("q8_0")?)
        .arg("--out")
        .arg(ctx.target.join("bench"))
        .args(args)
        .env("PYTHONDONTWRITEBYTECODE", "1");
    let status = command.status().with_context(|| format!("cannot start {}", python.display()))?;
    if status.success() { Ok(()) } else { bail!("compare.py ended with {status}") }
}

fn set_up(ctx: &Context) -> Result<()> {
    let _lock = ctx.cache.lock()?;
    tools::ensure(&ctx.cache, &ctx.host, &[Tool::Python, Tool::Cxx])?;
    python::LLM_PEERS.ensure(ctx)
}

/// The weights as llama.cpp's `kind`, made anew for each build of it.
fn requantised(ctx: &Context, python: &Path, script: &Path, weights: &Path, kind: &str) -> Result<PathBuf> {
    let stem = weights.file_stem().context("the weights have no name")?.to_string_lossy();
    let folder = python::LLM_PEERS.path(ctx)?.join("models");
    fs::create_dir_all(&folder)?;
    let target = folder.join(format!("{stem}-{kind}.gguf"));
    progress::step(&ctx.cache, &format!("Make {kind} of {stem}"), |step| {
        step.run(Command::new(python).arg(script).arg(weights).arg(&target).arg(kind))
    })?;
    Ok(target)
}
