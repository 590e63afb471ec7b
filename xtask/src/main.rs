//! `cargo xtask`: the project's chores. Run `cargo xtask help` for a list.

mod bench;
mod bindgen;
mod cache;
mod demo;
mod fuzz;
mod lint;
mod miri;
mod models;
mod progress;
mod schema;
mod setup;
mod test;

use anyhow::{Result, bail};
use lexopt::prelude::*;
use setup::{Context, Part};
use std::process::ExitCode;
use test::Suite;

const HELP: &str = "\
Usage: cargo xtask COMMAND

  demo                       set up, then classify the bundled photos and clip
  test [--only SUITE,...]    set up, then run every test (suites: rust, delegates, arm64, kotlin, swift, python)
       [--skip-setup]        take the machine as it is
       [--lint]              also run `lint`
  lint                       check formats and lints of every language
  models                     list the models that can be made of pinned weights
         NAME...|--all       fetch their weights and export their packages into the cache, folder models
         [--out DIR]         or into DIR; one that fails does not stop the others
  fuzz [TARGET]              feed the readers of files changed fixtures, and the preprocessor frames of any shape
                             (targets: pte, ptd, manifest, frame, photo)
       [--seconds N]         for so long each (60); needs a nightly compiler and cargo-fuzz
  bench llm [ARGS...]        measure language models beside llama.cpp, which is built for it (--rounds, --threads);
                             writes llm.json and llm.md into the target folder, bench, or where --out says
  bench vision [ARGS...]     time preprocessing beside OpenCV, libyuv and Rust crates (--json, --only, --rounds)
       vision --parity ...   compare what comes out with Pillow's, OpenCV's and exact pictures
  miri [ARGS...]             run the tests of nearside-vision's scalar path in Miri; needs a nightly compiler
  bindgen                    build the library and generate the Kotlin and Swift bindings
  schema                     generate the readers of ExecuTorch's files from its schemas
  setup [--only PART,...]    install and fetch what is missing
                             (parts: compiler, executorch, python, kotlin, swift, vendors, arm64)
        [--update-locks]     resolve Maven artefacts anew and write bindings/kotlin/maven.lock
  swift ARGS...              run Swift in bindings/swift, in the chroot if need be
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
    let command = match args.next()? {
        Some(Value(command)) => command.string()?,
        Some(Short('h') | Long("help")) => "help".to_owned(),
        _ => bail!("which command?\n\n{HELP}"),
    };
    let ctx = Context::new()?;
    match command.as_str() {
        "help" => print!("{HELP}"),
        "setup" => setup(&ctx, args)?,
        "demo" => {
            no_more(args)?;
            demo::run(&ctx)?;
        }
        "test" => return test(&ctx, args),
        "lint" => {
            no_more(args)?;
            setup::require(&ctx, &Part::LINT)?;
            lint::run(&ctx)?;
        }
        "fuzz" => fuzz(&ctx, args)?,
        "bench" => bench(&ctx, args)?,
        "models" => return models(&ctx, args),
        "miri" => miri::run(&ctx, &rest(args)?)?,
        "bindgen" => {
            no_more(args)?;
            setup::require(&ctx, &Part::DEMO)?;
            bindgen::run(&ctx)?;
        }
        "schema" => {
            no_more(args)?;
            schema::run(&ctx)?;
        }
        "swift" => return swift(&ctx, args),
        _ => bail!("no such command: {command}\n\n{HELP}"),
    }
    Ok(ExitCode::SUCCESS)
}

fn fuzz(ctx: &Context, mut args: lexopt::Parser) -> Result<()> {
    let (mut target, mut seconds) = (None, 60);
    while let Some(arg) = args.next()? {
        match arg {
            Value(name) if target.is_none() => {
                let name = name.string()?;
                if !fuzz::names().any(|known| known == name) {
                    let known: Vec<_> = fuzz::names().collect();
                    bail!("no such fuzz target: {name}; there are {}", known.join(", "));
                }
                target = Some(name);
            }
            Long("seconds") => seconds = args.value()?.parse()?,
            _ => return Err(arg.unexpected().into()),
        }
    }
    fuzz::run(ctx, target.as_deref(), seconds)
}

fn setup(ctx: &Context, mut args: lexopt::Parser) -> Result<()> {
    let all = Part::ALL.into_iter().filter(|part| part.exists_for(&ctx.host));
    let (mut parts, mut update_locks) = (all.collect::<Vec<_>>(), false);
    while let Some(arg) = args.next()? {
        match arg {
            Long("only") => parts = list(&args.value()?.string()?, &Part::ALL, Part::name)?,
            Long("update-locks") => update_locks = true,
            _ => return Err(arg.unexpected().into()),
        }
    }
    if update_locks {
        return setup::update_locks(ctx);
    }
    setup::require(ctx, &parts)?;
    eprintln!("everything is in place");
    Ok(())
}

fn test(ctx: &Context, mut args: lexopt::Parser) -> Result<ExitCode> {
    let mut options = test::Options { suites: Suite::all_for(&ctx.host), skip_setup: false, lint: false };
    while let Some(arg) = args.next()? {
        match arg {
            Long("only") => options.suites = list(&args.value()?.string()?, &Suite::ALL, Suite::name)?,
            Long("skip-setup") => options.skip_setup = true,
            Long("lint") => options.lint = true,
            _ => return Err(arg.unexpected().into()),
        }
    }
    Ok(if test::run(ctx, &options)? { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}

fn models(ctx: &Context, mut args: lexopt::Parser) -> Result<ExitCode> {
    let mut options = models::Options::default();
    while let Some(arg) = args.next()? {
        match arg {
            Value(name) => options.names.push(name.string()?),
            Long("all") => options.all = true,
            Long("out") => options.out = Some(args.value()?.into()),
            _ => return Err(arg.unexpected().into()),
        }
    }
    Ok(if models::run(ctx, &options)? { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}

fn swift(ctx: &Context, args: lexopt::Parser) -> Result<ExitCode> {
    setup::require(ctx, &[Part::Swift])?;
    let args = rest(args)?;
    let args: Vec<&str> = args.iter().map(String::as_str).collect();
    let status = test::swift::command(ctx, &args).status()?;
    Ok(if status.success() { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}

fn bench(ctx: &Context, mut args: lexopt::Parser) -> Result<()> {
    match args.value().ok().and_then(|name| name.into_string().ok()).as_deref() {
        Some("llm") => bench::llm::run(ctx, &rest(args)?),
        Some("vision") => bench::vision::run(ctx, &rest(args)?),
        _ => bail!("which benchmark? There are: llm, vision"),
    }
}

/// What follows, as it is.
fn rest(mut args: lexopt::Parser) -> Result<Vec<String>> {
    Ok(args.raw_args()?.map(|arg| arg.string()).collect::<Result<_, _>>()?)
}

fn no_more(mut args: lexopt::Parser) -> Result<()> {
    match args.next()? {
        Some(arg) => Err(arg.unexpected().into()),
        None => Ok(()),
    }
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
