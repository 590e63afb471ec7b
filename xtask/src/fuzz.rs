//! `cargo xtask fuzz`: files of any bytes, made from the fixtures, and frames of any shape are read or refused.

use crate::progress;
use crate::setup::host::{quiet, which};
use crate::setup::{self, Context, Part};
use anyhow::{Context as _, Result, bail};
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

/// A target, and the files that it starts from: the folder, and how their names end.
struct Target {
    name: &'static str,
    seeds: Option<(&'static str, &'static str)>,
}

const TARGETS: [Target; 7] = [
    Target { name: "pte", seeds: Some(("models", ".pte")) },
    Target { name: "ptd", seeds: Some(("models", ".ptd")) },
    Target { name: "manifest", seeds: Some(("models", "manifest.json")) },
    // Made of its own choices, of which files hold none.
    Target { name: "frame", seeds: None },
    Target { name: "tokenizer", seeds: Some(("crates/language/tests/tokenizers", "")) },
    Target { name: "template", seeds: Some(("crates/language/tests/templates", ".jinja")) },
    Target { name: "photo", seeds: Some(("crates/vision/tests/reference/photos", "")) },
];

/// Larger files would slow the fuzzer down and hold no other structure.
const MAX_SEED_BYTES: u64 = 1 << 15;

/// What one file may take: seconds, and MiB for one allocation and for all. The files are far smaller.
const LIMITS: [&str; 3] = ["-timeout=5", "-malloc_limit_mb=256", "-rss_limit_mb=2048"];

/// The names of the targets.
pub(crate) fn names() -> impl Iterator<Item = &'static str> {
    TARGETS.into_iter().map(|target| target.name)
}

/// Runs the target called `only`, else all, for `seconds` each.
pub(crate) fn run(ctx: &Context, only: Option<&str>, seconds: u64) -> Result<()> {
    require_fuzzer()?;
    setup::require(ctx, &Part::DEMO)?;
    for Target { name: target, seeds } in
        TARGETS.into_iter().filter(|target| only.is_none_or(|only| only == target.name))
    {
        plant(ctx, target, seeds)?;
        progress::step(&ctx.cache, &format!("Build the fuzz target {target}"), |step| {
            step.run(cargo_fuzz(ctx).args(["build", "--fuzz-dir", "fuzz", target]))
        })?;
        progress::step(&ctx.cache, &format!("Fuzz {target} for {seconds} s"), |step| {
            let mut command = cargo_fuzz(ctx);
            command.args(["run", "--fuzz-dir", "fuzz", target, "--"]).args(LIMITS);
            step.run(command.args([&format!("-max_total_time={seconds}"), "-print_final_stats=1"]))?;
            println!("{target}: {}", summary(&step.output()));
            Ok(())
        })?;
    }
    Ok(())
}

/// An error that says what this machine lacks.
fn require_fuzzer() -> Result<()> {
    let mut lacks = Vec::new();
    if which("rustup").is_none() {
        lacks.push("rustup, which brings compilers: https://rustup.rs");
    } else if !quiet("rustup", &["run", "nightly", "rustc", "--version"]) {
        lacks.push("a nightly compiler: rustup toolchain install nightly --profile minimal");
    }
    if which("cargo-fuzz").is_none() {
        lacks.push("cargo-fuzz: cargo install cargo-fuzz --locked");
    }
    if lacks.is_empty() { Ok(()) } else { bail!("fuzzing needs\n  {}", lacks.join("\n  ")) }
}

fn cargo_fuzz(ctx: &Context) -> Command {
    let mut command = Command::new("rustup");
    command.args(["run", "nightly", "cargo", "fuzz"]).current_dir(&ctx.root);
    command.env("CARGO_TARGET_DIR", &ctx.target).env_remove("CARGO_MANIFEST_DIR");
    command
}

/// Puts the repository's files of the kind into the corpus, beside what earlier runs found.
fn plant(ctx: &Context, target: &str, seeds: Option<(&str, &str)>) -> Result<()> {
    let corpus = ctx.root.join("fuzz/corpus").join(target);
    fs::create_dir_all(&corpus)?;
    let Some((folder, ending)) = seeds else { return Ok(()) };
    let folder = ctx.root.join(folder);
    let mut files = Vec::new();
    collect(&folder, ending, &mut files)?;
    for file in &files {
        let name = file.strip_prefix(&folder)?.to_string_lossy().replace(['/', '\\'], "-");
        fs::copy(file, corpus.join(name)).with_context(|| format!("cannot copy {}", file.display()))?;
    }
    if files.is_empty() { bail!("no file in {} ends in {ending}", folder.display()) } else { Ok(()) }
}

fn collect(folder: &Path, ending: &str, files: &mut Vec<PathBuf>) -> Result<()> {
    for entry in fs::read_dir(folder)? {
        let (path, data) = entry.and_then(|entry| Ok((entry.path(), entry.metadata()?)))?;
        if data.is_dir() {
            collect(&path, ending, files)?;
        } else if path.to_string_lossy().ends_with(ending) && data.len() <= MAX_SEED_BYTES {
            files.push(path);
        }
    }
    Ok(())
}

/// What libFuzzer says in the end, and how much of the code it reached.
fn summary(log: &str) -> String {
    let stat = |name: &str| log.lines().find_map(|line| line.strip_prefix(name)).map(str::trim);
    let reached = log.lines().rev().find_map(|line| line.split_once(" cov: ")?.1.split(' ').next());
    format!(
        "{} runs, {} a second, {} places in the code reached, nothing found",
        stat("stat::number_of_executed_units:").unwrap_or("?"),
        stat("stat::average_exec_per_sec:").unwrap_or("?"),
        reached.unwrap_or("?"),
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_fuzzers_closing_lines_are_read() {
        let log = "\
#1\tINITED cov: 100 ft: 200 corp: 1/1b exec/s: 0 rss: 40Mb
#9\tDONE   cov: 123 ft: 321 corp: 2/2b lim: 4 exec/s: 4 rss: 41Mb
Done 9 runs in 2 second(s)
stat::number_of_executed_units: 9
stat::average_exec_per_sec:     4
";
        assert_eq!(summary(log), "9 runs, 4 a second, 123 places in the code reached, nothing found");
    }
}
