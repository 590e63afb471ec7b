//! `cargo xtask test`: every test of every language, and one sum at the end.

mod arm64;
mod delegates;
mod kotlin;
mod python;
mod rust;
mod summary;
pub(crate) mod swift;

use crate::progress::{self, Step};
use crate::setup::host::Host;
use crate::setup::{self, Context, Part};
use crate::{bindgen, lint};
use anyhow::Result;
use std::time::{Duration, Instant};
use summary::{Counts, Outcome};

/// A language whose tests can be asked for alone.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Suite {
    Rust,
    Kotlin,
    Swift,
    Python,
    Delegates,
    Arm64,
}

impl Suite {
    pub(crate) const ALL: [Self; 6] =
        [Self::Rust, Self::Delegates, Self::Arm64, Self::Kotlin, Self::Swift, Self::Python];

    /// Those that there are for a machine.
    pub(crate) fn all_for(host: &Host) -> Vec<Self> {
        let exists = |suite: &Self| suite.needs().iter().all(|part| part.exists_for(host));
        Self::ALL.into_iter().filter(exists).collect()
    }

    /// The name on the command line.
    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Rust => "rust",
            Self::Kotlin => "kotlin",
            Self::Swift => "swift",
            Self::Python => "python",
            Self::Delegates => "delegates",
            Self::Arm64 => "arm64",
        }
    }

    /// What must be set up for it.
    fn needs(self) -> &'static [Part] {
        match self {
            Self::Rust => &[Part::Compiler, Part::ExecuTorch],
            Self::Kotlin => &[Part::Compiler, Part::ExecuTorch, Part::Kotlin],
            Self::Swift => &[Part::Compiler, Part::ExecuTorch, Part::Swift],
            Self::Python => &[Part::Compiler, Part::ExecuTorch, Part::Python],
            Self::Delegates => &[Part::Compiler, Part::ExecuTorch, Part::Vendors],
            Self::Arm64 => &[Part::Arm64],
        }
    }

    /// Whether CI may do without it. Rust's standard library for another target comes from rustup, which not every
    /// machine reaches that reaches the registries; the same tests run natively in the suite `rust`.
    fn is_optional(self) -> bool {
        self == Self::Arm64
    }

    /// Whether it tests what is generated from the library.
    fn is_bound(self) -> bool {
        matches!(self, Self::Kotlin | Self::Swift)
    }

    fn run(self, ctx: &Context, step: &Step) -> Result<Run> {
        match self {
            Self::Rust => rust::run(ctx, step),
            Self::Kotlin => kotlin::run(ctx, step),
            Self::Swift => swift::run(ctx, step),
            Self::Python => python::run(ctx, step),
            Self::Delegates => delegates::run(ctx, step),
            Self::Arm64 => arm64::run(ctx, step),
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
    let (set_up, set_up_took) = timed(|| set_up(ctx, options));
    let set_up = set_up?;
    if let Some(error) = &set_up.machine {
        eprintln!("error: {error:#}");
    }

    let (lints, lints_took) = timed(|| if options.lint { lint::run(ctx) } else { Ok(()) });
    if let Err(error) = &lints {
        eprintln!("error: {error:#}");
    }

    let generates = |suite: &Suite| suite.is_bound() && missing(&set_up, *suite).is_none();
    let generate = options.suites.iter().any(generates);
    let (bindings, bindings_took) = timed(|| if generate { bindgen::run(ctx) } else { Ok(()) });

    let ci = std::env::var("CI").is_ok_and(|ci| ci == "true");
    let outcome = |&suite: &Suite| match (missing(&set_up, suite), &bindings) {
        (Some(why), _) => Outcome::skipped(suite.name(), why, ci && !suite.is_optional()),
        (None, Err(error)) if suite.is_bound() => {
            Outcome::broken(suite.name(), format!("{error:#}"), Duration::ZERO)
        }
        (None, _) => one(ctx, suite),
    };
    let outcomes: Vec<Outcome> = options.suites.iter().map(outcome).collect();

    println!("\nset-up    {}", progress::seconds(set_up_took));
    if options.lint {
        let word = if lints.is_ok() { "passed" } else { "FAILED (see above)" };
        println!("lint      {word} in {}", progress::seconds(lints_took));
    }
    if generate {
        println!("bindings  {}", progress::seconds(bindings_took));
    }
    let (report, sum) = summary::report(&outcomes);
    print!("{report}");
    Ok(sum.failed == 0 && lints.is_ok())
}

fn set_up(ctx: &Context, options: &Options) -> Result<setup::Outcome> {
    if options.skip_setup {
        return Ok(setup::Outcome::default());
    }
    let wanted = |part: &Part| {
        options.lint && Part::LINT.contains(part)
            || options.suites.iter().any(|suite| suite.needs().contains(part))
    };
    let parts: Vec<Part> = Part::ALL.into_iter().filter(wanted).collect();
    setup::run(ctx, &parts)
}

/// Why a suite can't run on this machine.
fn missing(set_up: &setup::Outcome, suite: Suite) -> Option<String> {
    set_up.parts.iter().filter(|(part, _)| suite.needs().contains(part)).find_map(|(_, result)| {
        let error = result.as_ref().err()?;
        Some(format!("{error:#}"))
    })
}

fn one(ctx: &Context, suite: Suite) -> Outcome {
    let (ended, took) = timed(|| {
        progress::step(&ctx.cache, &format!("Test {}", suite.name()), |step| {
            let run = suite.run(ctx, step)?;
            if !run.succeeded {
                let shown = run.failures.clone().unwrap_or_else(|| step.tail(120));
                eprintln!("{shown}\n(all of it: {})", step.log().display());
            }
            Ok(run)
        })
    });
    match ended {
        Ok(run) => Outcome::ran(suite.name(), run.counts, run.succeeded, took),
        Err(error) => Outcome::broken(suite.name(), format!("{error:#}"), took),
    }
}

fn timed<T>(work: impl FnOnce() -> T) -> (T, Duration) {
    let since = Instant::now();
    (work(), since.elapsed())
}
