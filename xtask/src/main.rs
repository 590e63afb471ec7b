//! `cargo xtask`: the project's chores. Run `cargo xtask help` for a list.

mod cache;
mod progress;
mod setup;

use anyhow::{Result, bail};
use lexopt::prelude::*;
use setup::{Context, Part};
use std::process::ExitCode;

const HELP: &str = "\
Usage: cargo xtask COMMAND

  setup [--only PART,...]    install and fetch what is missing
                             (parts: compiler, executorch, python, kotlin, swift)
";

fn main() -> ExitCode {
    match run() {
        Ok(code) => code,
        Err(error) => {
            eprintln!("error: {error:#}");
            ExitCode::FAILURE
        }
    }
}

fn run() -> Result<ExitCode> {
    let mut args = lexopt::Parser::from_env();
    match args.next()? {
        Some(Value(command)) => match command.to_str() {
            Some("setup") => setup(args),
            _ => bail!("no such command: {}\n{HELP}", command.display()),
        },
        _ => bail!("{HELP}"),
    }
}

fn setup(mut args: lexopt::Parser) -> Result<ExitCode> {
    let mut parts = Part::ALL.to_vec();
    while let Some(arg) = args.next()? {
        match arg {
            Long("only") => parts = list(&args.value()?.string()?, &Part::ALL, Part::name)?,
            _ => return Err(arg.unexpected().into()),
        }
    }
    setup::require(&Context::new()?, &parts)?;
    Ok(ExitCode::SUCCESS)
}

/// Reads a comma-separated list of names.
fn list<T: Copy>(text: &str, all: &[T], name: impl Fn(T) -> &'static str) -> Result<Vec<T>> {
    let find = |word: &str| match all.iter().find(|item| name(**item) == word) {
        Some(item) => Ok(*item),
        None => {
            bail!("`{word}` is none of {}", all.iter().map(|item| name(*item)).collect::<Vec<_>>().join(", "))
        }
    };
    text.split(',').map(str::trim).map(find).collect()
}
