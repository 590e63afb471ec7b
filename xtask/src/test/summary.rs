//! What the runners of four languages say at the end, in one kind of number.

use crate::progress::seconds;
use std::fmt;
use std::ops::AddAssign;
use std::time::Duration;

/// Tests by how they ended.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct Counts {
    pub(crate) passed: u64,
    pub(crate) failed: u64,
    pub(crate) skipped: u64,
}

impl Counts {
    fn total(self) -> u64 {
        self.passed + self.failed + self.skipped
    }
}

impl AddAssign for Counts {
    fn add_assign(&mut self, other: Self) {
        self.passed += other.passed;
        self.failed += other.failed;
        self.skipped += other.skipped;
    }
}

impl fmt::Display for Counts {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} passed, {} failed, {} skipped", self.passed, self.failed, self.skipped)
    }
}

/// How one part of the tests went.
#[derive(Debug)]
pub(crate) struct Outcome {
    pub(crate) part: &'static str,
    pub(crate) counts: Counts,
    /// Why the part was skipped, or failed other than by its tests.
    pub(crate) note: Option<String>,
    pub(crate) took: Duration,
}

impl Outcome {
    /// A part whose runner was started. It failed if its runner did, or if it ran no test, whatever was counted.
    pub(crate) fn ran(part: &'static str, mut counts: Counts, succeeded: bool, took: Duration) -> Self {
        let mut note = None;
        if !succeeded && counts.failed == 0 {
            counts.failed = 1;
            note = Some("the test runner itself failed".to_owned());
        } else if counts.total() == 0 {
            counts.failed = 1;
            note = Some("no test was run".to_owned());
        }
        Self { part, counts, note, took }
    }

    /// A part that broke before its tests could run.
    pub(crate) fn broken(part: &'static str, why: String, took: Duration) -> Self {
        Self { part, counts: Counts { failed: 1, ..Counts::default() }, note: Some(why), took }
    }

    /// A part that this machine can't run: skipped, but on CI a failure.
    pub(crate) fn skipped(part: &'static str, why: String, ci: bool) -> Self {
        let counts = if ci {
            Counts { failed: 1, ..Counts::default() }
        } else {
            Counts { skipped: 1, ..Counts::default() }
        };
        let note =
            if ci { format!("skipped, which is a failure on CI: {why}") } else { format!("skipped: {why}") };
        Self { part, counts, note: Some(note), took: Duration::ZERO }
    }
}

/// The report, whose last line is the sum. A lone line `N passed, N failed, N skipped` appears only there.
pub(crate) fn report(outcomes: &[Outcome]) -> (String, Counts) {
    let mut sum = Counts::default();
    let mut text = String::new();
    for Outcome { part, counts, note, took } in outcomes {
        sum += *counts;
        text += &format!("{part:<9} {counts} in {}\n", seconds(*took));
        for line in note.iter().flat_map(|note| note.lines()) {
            text += &format!("          {line}\n");
        }
    }
    text += &format!("{sum}\n");
    (text, sum)
}

/// Reads the totals of a JUnit report (Surefire and pytest write one suite a file).
pub(crate) fn junit(xml: &str) -> Option<Counts> {
    let start = xml.find("<testsuite ").or_else(|| xml.find("<testsuite\n"))?;
    let tag = &xml[start..];
    let tag = &tag[..tag.find('>')?];
    let number = |name: &str| -> Option<u64> {
        let value = tag.split_once(&format!(" {name}=\""))?.1;
        value.split_once('"')?.0.parse().ok()
    };
    let failed = number("failures")? + number("errors")?;
    let skipped = number("skipped")?;
    Some(Counts { passed: number("tests")?.saturating_sub(failed + skipped), failed, skipped })
}

#[cfg(test)]
mod tests {
    use super::*;

    const SECOND: Duration = Duration::from_secs(1);

    #[test]
    fn a_part_that_ran_no_test_has_failed() {
        assert_eq!(Outcome::ran("rust", Counts::default(), true, SECOND).counts.failed, 1);
    }

    #[test]
    fn a_runner_that_failed_without_counting_it_has_failed() {
        let counts = Counts { passed: 3, ..Counts::default() };
        assert_eq!(
            Outcome::ran("swift", counts, false, SECOND).counts,
            Counts { passed: 3, failed: 1, skipped: 0 }
        );
    }

    #[test]
    fn a_skipped_part_says_why_and_fails_on_ci() {
        let here = Outcome::skipped("swift", "no root".into(), false);
        let ci = Outcome::skipped("swift", "no root".into(), true);
        assert_eq!((here.counts.skipped, here.counts.failed), (1, 0));
        assert_eq!((ci.counts.skipped, ci.counts.failed), (0, 1));
        assert!(ci.note.unwrap().ends_with("no root"));
    }

    #[test]
    fn the_last_line_is_the_sum_and_the_only_one_of_its_form() {
        let outcomes = [
            Outcome::ran("rust", Counts { passed: 5, failed: 1, skipped: 2 }, false, SECOND),
            Outcome::skipped("swift", "no root".into(), false),
        ];
        let (text, sum) = report(&outcomes);
        assert_eq!(sum, Counts { passed: 5, failed: 1, skipped: 3 });
        assert!(text.ends_with("\n5 passed, 1 failed, 3 skipped\n"), "{text}");
        assert_eq!(text.lines().filter(|line| line.ends_with(" skipped")).count(), 1);
    }

    #[test]
    fn surefire_and_pytest_reports_are_read() {
        let surefire = "<?xml version=\"1.0\"?>\n<testsuite xmlns:xsi=\"x\" name=\"dev.nearside.A\" time=\"0.06\" \
            tests=\"4\" errors=\"1\" skipped=\"1\" failures=\"0\">\n<testcase/></testsuite>";
        assert_eq!(junit(surefire), Some(Counts { passed: 2, failed: 1, skipped: 1 }));
        let pytest = "<testsuites name=\"pytest tests\"><testsuite name=\"pytest\" errors=\"0\" failures=\"2\" \
            skipped=\"0\" tests=\"7\" time=\"1\"></testsuite></testsuites>";
        assert_eq!(junit(pytest), Some(Counts { passed: 5, failed: 2, skipped: 0 }));
        assert_eq!(junit("not a report"), None);
    }
}
