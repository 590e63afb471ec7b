//! The Swift tests, on Linux or macOS.

use super::Run;
use super::summary::Counts;
use crate::progress::Step;
use crate::setup::Context;
use crate::setup::swift::Swift;
use anyhow::Result;
use std::process::Command;

pub(super) fn run(ctx: &Context, step: &Step) -> Result<Run> {
    let succeeded = step.succeeds(&mut command(ctx, &["test"]))?;
    Ok(Run { counts: count(&step.output()), succeeded, failures: None })
}

/// `swift ARGS` in the Swift package. What builds is told where the library is, and to build outside the checkout.
pub(crate) fn command(ctx: &Context, args: &[&str]) -> Command {
    let mut all: Vec<String> = args.iter().map(|&arg| arg.to_owned()).collect();
    if let [subcommand @ ("build" | "test" | "run"), rest @ ..] = args {
        let libraries = ctx.libraries().display().to_string();
        let scratch = ctx.target.join("swift").display().to_string();
        let link = ["-Xlinker", &format!("-L{libraries}"), "-Xlinker", "-rpath", "-Xlinker", &libraries];
        all = [subcommand, "--scratch-path", &scratch]
            .iter()
            .chain(&link)
            .chain(rest)
            .map(ToString::to_string)
            .collect();
    }
    Swift::of(ctx).command(ctx, &ctx.root.join("bindings/swift"), &all)
}

/// Counts the lines of single tests: those of Swift Testing (`✔ Test name() passed after ...`) and of XCTest
/// (`Test Case 'Name' passed (...)`). Closing lines leave out which of them were skipped.
fn count(text: &str) -> Counts {
    let mut counts = Counts::default();
    for line in text.lines() {
        let line = line.trim_start_matches(|c: char| !c.is_ascii_alphabetic());
        let end = if let Some(rest) = line.strip_prefix("Test Case '") {
            // The name may hold anything but a quote.
            rest.split_once("' ").map(|(_, end)| end)
        } else if line.starts_with("Test run ") {
            None
        } else {
            line.strip_prefix("Test ").and_then(after_name)
        };
        match end.and_then(|end| end.split([' ', ':', '.']).next()) {
            Some("passed") => counts.passed += 1,
            Some("failed") => counts.failed += 1,
            Some("skipped") => counts.skipped += 1,
            _ => {}
        }
    }
    counts
}

/// What follows a test's name: `name(label:) ` or a display name in quotes.
fn after_name(text: &str) -> Option<&str> {
    if let Some(rest) = text.strip_prefix('"') {
        return rest.split_once("\" ").map(|(_, end)| end);
    }
    text.split_once(") ").map(|(_, end)| end)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tests_of_swift_testing_are_counted_but_not_suites_issues_or_the_run() {
        let text = "\
◇ Test run started.
◇ Suite S started.
✘ Test three() skipped: \"no reason\"
➜ Test four() skipped.
◇ Test oneIsOne() started.
✘ Test two() recorded an issue at T.swift:5:20: Expectation failed: (f() → 1) == 2
◇ Passing 1 argument n → 1 to par(n:)
✔ Test oneIsOne() passed after 0.001 seconds.
✔ Test \"a photo (large) is classified\" passed after 0.001 seconds.
✔ Test par(n:) passed after 0.001 seconds.
✘ Test two() failed after 0.001 seconds with 1 issue.
✘ Suite S failed after 0.002 seconds with 1 issue.
✘ Test run with 5 tests failed after 0.002 seconds with 2 issues.
";
        assert_eq!(count(text), Counts { passed: 3, failed: 1, skipped: 2 });
    }

    #[test]
    fn tests_of_xctest_are_counted_but_not_their_suites() {
        let text = "\
Test Suite 'X' started at 2026-01-01 08:44:32.976
Test Case 'X.testA' started at 2026-01-01 08:44:32.976
Test Case 'X.testA' passed (0.002 seconds)
/T.swift:8: error: X.testB : XCTAssertEqual failed: (\"1\") is not equal to (\"2\") - 
Test Case 'X.testB' failed (0.0 seconds)
/T.swift:8: X.testC : Test skipped - nah
Test Case 'X.testC' skipped (0.0 seconds)
Test Suite 'X' failed at 2026-01-01 08:44:32.978
\t Executed 3 tests, with 1 test skipped and 1 failure (0 unexpected) in 0.002 (0.002) seconds
";
        assert_eq!(count(text), Counts { passed: 1, failed: 1, skipped: 1 });
    }
}
