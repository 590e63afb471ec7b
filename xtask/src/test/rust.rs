//! The Rust tests, doc tests included.

use super::Run;
use super::summary::Counts;
use crate::progress::Step;
use crate::setup::Context;
use anyhow::Result;
use std::process::Command;

pub(super) fn run(ctx: &Context, step: &Step) -> Result<Run> {
    counted(step, ctx.cargo().args(["test", "--workspace", "--no-fail-fast"]))
}

/// Runs a `cargo test` and reads what it says.
pub(super) fn counted(step: &Step, command: &mut Command) -> Result<Run> {
    let succeeded = step.succeeds(command)?;
    Ok(read(step, succeeded))
}

/// Reads what the `cargo test`s of a step said.
pub(super) fn read(step: &Step, succeeded: bool) -> Run {
    let text = step.output();
    Run { counts: count(&text), succeeded, failures: failures(&text) }
}

/// Adds up libtest's closing lines, one a test binary:
/// `test result: ok. 3 passed; 0 failed; 1 ignored; 0 measured; 0 filtered out; finished in 0.01s`.
fn count(text: &str) -> Counts {
    let mut counts = Counts::default();
    for line in text.lines().filter_map(|line| line.strip_prefix("test result: ")) {
        let number = |what: &str| -> u64 {
            let before = line.split_once(&format!(" {what};")).map_or("", |(before, _)| before);
            before.rsplit(' ').next().and_then(|number| number.parse().ok()).unwrap_or(0)
        };
        counts += Counts { passed: number("passed"), failed: number("failed"), skipped: number("ignored") };
    }
    counts
}

/// What libtest prints of failed tests, which may be far above the end.
fn failures(text: &str) -> Option<String> {
    let mut kept = Vec::new();
    let mut inside = false;
    for line in text.lines() {
        inside = (inside || line == "failures:") && !line.starts_with("test result: ");
        if inside {
            kept.push(line);
        }
    }
    (!kept.is_empty()).then(|| kept.join("\n"))
}

#[cfg(test)]
mod tests {
    use super::*;

    const OUTPUT: &str = "\
     Running unittests src/lib.rs (target/debug/deps/a)
test one ... ok
test result: ok. 2 passed; 0 failed; 1 ignored; 0 measured; 0 filtered out; finished in 0.00s
     Running tests/b.rs (target/debug/deps/b)
test two ... FAILED

failures:

---- two stdout ----
thread 'two' panicked at tests/b.rs:3:5

failures:
    two

test result: FAILED. 1 passed; 1 failed; 0 ignored; 0 measured; 0 filtered out; finished in 0.00s

   Doc-tests a
test result: ok. 10 passed; 0 failed; 0 ignored; 0 measured; 0 filtered out; finished in 0.52s
";

    #[test]
    fn the_results_of_all_test_binaries_are_added_up() {
        assert_eq!(count(OUTPUT), Counts { passed: 13, failed: 1, skipped: 1 });
    }

    #[test]
    fn failed_tests_are_shown_from_wherever_they_are() {
        let shown = failures(OUTPUT).unwrap();
        assert!(shown.contains("panicked at tests/b.rs") && !shown.contains("Doc-tests"), "{shown}");
        assert_eq!(failures("test result: ok. 0 passed; 0 failed;"), None);
    }
}
