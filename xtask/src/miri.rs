//! `cargo xtask miri`: nearside-vision's tests, interpreted, which finds what no run of compiled code shows.

use crate::progress;
use crate::setup::Context;
use crate::setup::host::{quiet, which};
use anyhow::{Result, bail};
use std::process::Command;

/// The tests that are small enough. Others read larger pictures, which is the same code and takes hours.
const TESTS: [&str; 5] = ["--lib", "--test", "in_bounds", "--test", "properties"];

const PROPTEST_CASES: &str = "1";

/// Runs `cargo miri test` with `args`, by default on [`TESTS`]. Only the scalar path runs: vector instructions are not
/// Rust that Miri could interpret, and they are tested to give the same.
pub(crate) fn run(ctx: &Context, args: &[String]) -> Result<()> {
    require_miri()?;
    let args: Vec<&str> =
        if args.is_empty() { TESTS.to_vec() } else { args.iter().map(String::as_str).collect() };
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
