//! `cargo xtask test`: every test of every language, and one sum at the end.

mod kotlin;
mod python;
mod rust;
mod summary;
pub(crate) mod swift;

use crate::progress::{self, Step};
use crate::setup::{self, Context, Part};
use crate::{bindgen, lint};
use anyhow::{Error, Result};
use std::time::{Duration, Instant};
use summary::{Counts, Outcome};

/// A language whose tests can be asked for alone.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Suite {
    Rust,
    Kotlin,
    Swift,
    Python,
}

impl Suite {
    pub(crate) const ALL: [Self; 4] = [Self::Rust, Self::Kotlin, Self::Swift, Self::Python];

    /// The name on the command line.
    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Rust => "rust",
            Self::Kotlin => "kotlin",
            Self::Swift => "swift",
            Self::Python => "python",
        }
    }

    /// What must be set up for it.
    fn needs(self) -> &'static [Part] {
        match self {
            Self::Rust => &[Part::Compiler, Part::ExecuTorch],
            Self::Kotlin => &[Part::Compiler, Part::ExecuTorch, Part::Kotlin],
            Self::Swift => &[Part::Compiler, Part::ExecuTorch, Part::Swift],
            Self::Python => &[Part::Python],
        }
    }

    fn run(self, ctx: &Context, step: &Step) -> Result<Run> {
        match self {
            Self::Rust => rust::run(ctx, step),
            Self::Kotlin => kotlin::run(ctx, step),
            Self::Swift => swift::run(ctx, step),
            Self::Python => python::run(ctx, step),
        }
    }
}

/// What a test runner did.
struct Run {
    counts: Counts,
    /// Whether the runner ended well.
    succeeded: bool,
    /// The part of its output to show if not; else its end is shown.
    failures: Option<String>,
}

/// What to test, from the command line.
pub(crate) struct Options {
    pub(crate) suites: Vec<Suite>,
    pub(crate) skip_setup: bool,
    /// Also check format and lints.
    pub(crate) lint: bool,
}

/// Runs the tests; true if nothing failed.
pub(crate) fn run(ctx: &Context, options: &Options) -> Result<bool> {
    let ci = std::env::var("CI").is_ok_and(|ci| ci == "true");
    let since = Instant::now();
    let wanted =
        |part: &Part| options.lint || options.suites.iter().any(|suite| suite.needs().contains(part));
    let parts: Vec<Part> = Part::ALL.into_iter().filter(wanted).collect();
    let set_up = if options.skip_setup { Vec::new() } else { setup::run(ctx, &parts)? };
    let set_up_took = since.elapsed();

    let since = Instant::now();
    let lints = if options.lint { lint::run(ctx) } else { Ok(()) };
    let lints_took = since.elapsed();
    if let Err(error) = &lints {
        eprintln!("error: {error:#}");
    }

    let missing = |suite: Suite| -> Option<String> {
        let fails = |(part, result): &(Part, Result<()>)| {
            let error = result.as_ref().err()?;
            suite.needs().contains(part).then(|| format!("{error:#}"))
        };
        set_up.iter().find_map(fails)
    };
    let mut bindings: Option<Result<(), String>> = None;
    let mut outcomes = Vec::new();
    for &suite in &options.suites {
        if let Some(why) = missing(suite) {
            outcomes.push(Outcome::skipped(suite.name(), why, ci));
            continue;
        }
        let since = Instant::now();
        if matches!(suite, Suite::Kotlin | Suite::Swift) {
            let generated =
                bindings.get_or_insert_with(|| bindgen::run(ctx).map_err(|error| format!("{error:#}")));
            if let Err(why) = generated {
                outcomes.push(Outcome::broken(suite.name(), why.clone(), since.elapsed()));
                continue;
            }
        }
        outcomes.push(one(ctx, suite, since));
    }

    println!("\nset-up   {}", progress::seconds(set_up_took));
    if options.lint {
        let word = if lints.is_ok() { "passed" } else { "FAILED (see above)" };
        println!("lint     {word} in {}", progress::seconds(lints_took));
    }
    let (report, sum) = summary::report(&outcomes);
    print!("{report}");
    Ok(sum.failed == 0 && lints.is_ok())
}

fn one(ctx: &Context, suite: Suite, since: Instant) -> Outcome {
    let took = |since: Instant| -> Duration { since.elapsed() };
    let ended = progress::step(&ctx.cache, &format!("Test {}", suite.name()), |step| {
        let run = suite.run(ctx, step)?;
        if !run.succeeded {
            let shown = run.failures.clone().unwrap_or_else(|| step.tail(120));
            eprintln!("{shown}\n(all of it: {})", step.log().display());
        }
        Ok(run)
    });
    match ended {
        Ok(run) => Outcome::ran(suite.name(), run.counts, run.succeeded, took(since)),
        Err(error) => Outcome::broken(suite.name(), describe(&error), took(since)),
    }
}

fn describe(error: &Error) -> String {
    format!("{error:#}")
}
