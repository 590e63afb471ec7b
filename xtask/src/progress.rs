//! What a person sees of a long step: a spinner with the time on a terminal, plain lines elsewhere; its commands'
//! output goes to a log, whose end is shown when the step fails.

use crate::cache::Cache;
use anyhow::{Context, Result, bail};
use indicatif::{ProgressBar, ProgressStyle};
use std::ffi::OsStr;
use std::fs::{self, File};
use std::io::{IsTerminal, Write};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

/// Lines of a failed command's log that are shown.
const TAIL: usize = 60;

/// Does `work` as one step named `name`, shown while it lasts.
pub(crate) fn step<T>(cache: &Cache, name: &str, work: impl FnOnce(&Step) -> Result<T>) -> Result<T> {
    let step = Step::start(cache, name)?;
    let result = work(&step);
    step.finish(result.is_ok());
    result.with_context(|| format!("{name} failed"))
}

/// A step being done.
pub(crate) struct Step {
    name: String,
    log: PathBuf,
    since: Instant,
    bar: Option<ProgressBar>,
}

impl Step {
    fn start(cache: &Cache, name: &str) -> Result<Self> {
        let folder = cache.path("logs");
        fs::create_dir_all(&folder)?;
        let log = folder.join(format!("{}.log", slug(name)));
        File::create(&log).with_context(|| format!("cannot write {}", log.display()))?;
        let bar = if std::io::stderr().is_terminal() {
            let bar = ProgressBar::new_spinner().with_message(name.to_owned());
            bar.set_style(ProgressStyle::with_template("{spinner} {msg} {elapsed}")?);
            bar.enable_steady_tick(Duration::from_millis(120));
            Some(bar)
        } else {
            eprintln!("==> {name} ...");
            None
        };
        Ok(Self { name: name.to_owned(), log, since: Instant::now(), bar })
    }

    fn finish(&self, succeeded: bool) {
        if let Some(bar) = &self.bar {
            bar.finish_and_clear();
        }
        let word = if succeeded { "done" } else { "failed" };
        eprintln!("==> {} {word} in {}", self.name, seconds(self.since.elapsed()));
    }

    /// Where the commands of this step write.
    pub(crate) fn log(&self) -> &Path {
        &self.log
    }

    /// Runs a command to its end, its output going to the log.
    pub(crate) fn run(&self, command: &mut Command) -> Result<()> {
        if self.succeeds(command)? {
            return Ok(());
        }
        bail!(
            "`{}` did not succeed; the end of {}:\n{}",
            shown(command),
            self.log.display(),
            self.tail(TAIL)
        );
    }

    /// Like [`Step::run`], but an unsuccessful end is an answer, not an error.
    pub(crate) fn succeeds(&self, command: &mut Command) -> Result<bool> {
        let mut log = File::options().append(true).open(&self.log)?;
        writeln!(log, "$ {}", shown(command))?;
        let status = command
            .stdin(Stdio::null())
            .stdout(log.try_clone()?)
            .stderr(log)
            .status()
            .with_context(|| format!("cannot start `{}`", command.get_program().to_string_lossy()))?;
        Ok(status.success())
    }

    /// What the commands have written so far.
    pub(crate) fn output(&self) -> String {
        String::from_utf8_lossy(&fs::read(&self.log).unwrap_or_default()).into_owned()
    }

    /// The last lines of it.
    pub(crate) fn tail(&self, lines: usize) -> String {
        let text = self.output();
        let all: Vec<&str> = text.lines().collect();
        all[all.len().saturating_sub(lines)..].join("\n")
    }
}

/// A duration as people write it: `0.4 s`, `12 s`, `3 min 5 s`.
pub(crate) fn seconds(duration: Duration) -> String {
    let whole = duration.as_secs();
    match whole {
        0..10 => format!("{:.1} s", duration.as_secs_f64()),
        10..60 => format!("{whole} s"),
        _ => format!("{} min {} s", whole / 60, whole % 60),
    }
}

/// A command as one would type it, long arguments cut.
fn shown(command: &Command) -> String {
    let word = |word: &OsStr| {
        let word = word.to_string_lossy().replace('\n', " ");
        if word.chars().count() > 120 { word.chars().take(117).chain("...".chars()).collect() } else { word }
    };
    std::iter::once(command.get_program()).chain(command.get_args()).map(word).collect::<Vec<_>>().join(" ")
}

fn slug(name: &str) -> String {
    let words = name.split(|c: char| !c.is_ascii_alphanumeric() && c != '.').filter(|word| !word.is_empty());
    words.map(str::to_ascii_lowercase).collect::<Vec<_>>().join("-")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn durations_read_as_people_write_them() {
        assert_eq!(seconds(Duration::from_millis(420)), "0.4 s");
        assert_eq!(seconds(Duration::from_secs(12)), "12 s");
        assert_eq!(seconds(Duration::from_secs(185)), "3 min 5 s");
    }

    #[test]
    fn a_step_name_becomes_a_file_name() {
        assert_eq!(slug("ExecuTorch 1.5.1: fetch & unpack"), "executorch-1.5.1-fetch-unpack");
    }
}
