//! `cargo xtask miri`: nearside-vision's tests, interpreted, which finds what no run of compiled code shows.

use crate::progress;
use crate::setup::Context;
use crate::setup::host::{quiet, which};
use anyhow::{Result, bail};
use std::process::Command;

/// A whole run of the properties would take a day.
const PROPTEST_CASES: &str = "2";

/// Runs `cargo miri test` with `args`; those that Miri can't run or that say nothing more are left out there.
pub(crate) fn run(ctx: &Context, args: &[String]) -> Result<()> {
    require_miri()?;
    progress::step(&ctx.cache, "Miri on nearside-vision", |step| {
        let mut command = Command::new("rustup");
        command
            .args(["run", "nightly", "cargo", "miri", "test", "--package", "nearside-vision"])
            .args(args)
            .current_dir(&ctx.root)
            .env("CARGO_TARGET_DIR", ctx.target.join("miri"))
            .env_remove("CARGO_MANIFEST_DIR")
            // Reading the reference files needs the file system.
            .env("MIRIFLAGS", "-Zmiri-disable-isolation -Zmiri-strict-provenance")
            .env("PROPTEST_CASES", PROPTEST_CASES);
        step.run(&mut command)?;
        println!("{}", results(&step.output()));
        Ok(())
    })
}

/// An error that says what this machine lacks.
fn require_miri() -> Result<()> {
    if which("rustup").is_none() {
        bail!("Miri needs rustup, which brings compilers: https://rustup.rs");
    }
    if !quiet("rustup", &["run", "nightly", "cargo", "miri", "--version"]) {
        bail!(
            "Miri needs a nightly compiler with it: \
             rustup toolchain install nightly --profile minimal --component miri,rust-src"
        );
    }
    Ok(())
}

/// The closing line of each test binary.
fn results(log: &str) -> String {
    log.lines().filter(|line| line.starts_with("test result: ")).collect::<Vec<_>>().join("\n")
}
