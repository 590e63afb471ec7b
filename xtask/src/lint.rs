//! `cargo xtask lint`: format and lints of every language.

use crate::progress;
use crate::setup::swift::Swift;
use crate::setup::{Context, maven, python};
use anyhow::{Result, bail};
use std::process::Command;

/// The commands of a check.
type Check = fn(&Context) -> Result<Vec<Command>>;

/// Runs every check, then says which failed.
pub(crate) fn run(ctx: &Context) -> Result<()> {
    let checks: [(&str, Check); 5] = [
        ("rustfmt", |ctx| Ok(vec![cargo(ctx, &["fmt", "--all", "--check"])])),
        ("clippy", |ctx| {
            Ok(vec![cargo(ctx, &["clippy", "--workspace", "--all-targets", "--", "-D", "warnings"])])
        }),
        ("ktlint", ktlint),
        ("swift format", swift_format),
        ("ruff", ruff),
    ];
    let mut failed = Vec::new();
    for (name, commands) in checks {
        let result = progress::step(&ctx.cache, &format!("Lint: {name}"), |step| {
            commands(ctx)?.iter_mut().try_for_each(|command| step.run(command))
        });
        if let Err(error) = result {
            eprintln!("{error:#}");
            failed.push(name);
        }
    }
    if failed.is_empty() { Ok(()) } else { bail!("not clean: {}", failed.join(", ")) }
}

fn cargo(ctx: &Context, args: &[&str]) -> Command {
    let mut command = ctx.cargo();
    command.args(args);
    command
}

fn ktlint(ctx: &Context) -> Result<Vec<Command>> {
    let mut command = Command::new("java");
    command.arg("-jar").arg(maven::ktlint(ctx)?);
    command.args(["--relative", "**/*.kt", "**/*.kts", "!**/target/**"]).current_dir(maven::project(ctx));
    Ok(vec![command])
}

fn swift_format(ctx: &Context) -> Result<Vec<Command>> {
    // Not `generated`.
    let args =
        ["format", "lint", "--strict", "--recursive", "Package.swift", "Sources", "Tests"].map(str::to_owned);
    Ok(vec![Swift::of(ctx).command(ctx, &ctx.root.join("bindings/swift"), &args)])
}

fn ruff(ctx: &Context) -> Result<Vec<Command>> {
    let ruff = python::EXPORT.path(ctx)?.join("bin/ruff");
    let run = |folder: &str, args: &[&str]| {
        let mut command = Command::new(&ruff);
        command.args(args).args(["--no-cache", "."]).current_dir(ctx.root.join(folder));
        command
    };
    let folders = [
        "export",
        "benches/llm-peers",
        "benches/pixel-peers",
        "crates/language/tests",
        "crates/vision/tests/reference",
    ];
    let checks = folders.map(|folder| [run(folder, &["check"]), run(folder, &["format", "--check"])]);
    Ok(checks.into_iter().flatten().collect())
}
