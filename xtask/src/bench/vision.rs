//! `cargo xtask bench vision`: preprocessing beside its peers, in one process.

use crate::progress;
use crate::setup::host::Root;
use crate::setup::tools::{self, Tool};
use crate::setup::{Context, python};
use anyhow::{Context as _, Result, bail};
use std::process::Command;

/// Compares pictures instead of times.
const PARITY: &str = "--parity";

/// Sets up, builds the peers and runs the script with what of `args` is not [`PARITY`].
pub(crate) fn run(ctx: &Context, args: &[String]) -> Result<()> {
    set_up(ctx)?;
    progress::step(&ctx.cache, "Build the pixel peers", |step| {
        step.run(ctx.cargo().args(["build", "--release", "--package", "nearside-pixel-peers"]))
    })?;
    let script = if args.iter().any(|arg| arg == PARITY) { "parity.py" } else { "compare.py" };
    let python = python::PIXEL_PEERS.python(ctx)?;
    let mut command = Command::new(&python);
    command
        .arg(ctx.root.join("benches/pixel-peers").join(script))
        .arg(ctx.target.join("release"))
        .args(args.iter().filter(|arg| *arg != PARITY))
        .env("PYTHONDONTWRITEBYTECODE", "1");
    let status = command.status().with_context(|| format!("cannot start {}", python.display()))?;
    if status.success() { Ok(()) } else { bail!("{script} ended with {status}") }
}

fn set_up(ctx: &Context) -> Result<()> {
    let _lock = ctx.cache.lock()?;
    tools::ensure(&ctx.cache, &ctx.host, &[Tool::Python])?;
    if ctx.host.has_apt()
        && ctx.host.root != Root::No
        && let Err(error) = tools::ensure(&ctx.cache, &ctx.host, &[Tool::Libyuv])
    {
        // One row less.
        eprintln!("{error:#}");
    }
    python::PIXEL_PEERS.ensure(ctx)
}
