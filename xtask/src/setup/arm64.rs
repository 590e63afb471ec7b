//! What compiles and runs tests for 64-bit ARM on another processor.

use super::Context;
use super::executorch;
use super::host::{Arch, Host, Os, which};
use crate::progress;
use anyhow::{Result, bail};
use std::process::Command;

/// The target, as rustc calls it.
pub(crate) const TARGET: &str = "aarch64-unknown-linux-gnu";

/// Whether this machine emulates it: one that is it needs no emulator, and QEMU's emulator of programs is for Linux.
pub(crate) fn exists_for(host: &Host) -> bool {
    matches!(&host.os, Os::Linux(_)) && host.arch == Arch::X86_64
}

/// Adds the target's standard library to the Rust toolchain of this checkout, and fetches ExecuTorch for it.
pub(crate) fn ensure(ctx: &Context) -> Result<()> {
    executorch::ensure_arm64(ctx)?;
    if which("rustup").is_none() {
        bail!("it takes Rust's standard library for {TARGET}, which rustup brings: https://rustup.rs");
    }
    let mut installed = rustup(ctx);
    installed.args(["list", "--installed"]);
    if String::from_utf8_lossy(&installed.output()?.stdout).lines().any(|line| line == TARGET) {
        return Ok(());
    }
    progress::step(&ctx.cache, &format!("Add Rust's target {TARGET}"), |step| {
        step.run(rustup(ctx).args(["add", TARGET]))
    })
}

fn rustup(ctx: &Context) -> Command {
    let mut command = Command::new("rustup");
    command.arg("target").current_dir(&ctx.root);
    command
}
