//! The Kotlin tests, on the JVM.

use super::Run;
use super::summary::{self, Counts};
use crate::cache;
use crate::progress::Step;
use crate::setup::{Context, maven};
use anyhow::{Context as _, Result};
use std::fs;
use std::path::{Path, PathBuf};

pub(super) fn run(ctx: &Context, step: &Step) -> Result<Run> {
    let project = maven::project(ctx);
    // Of earlier runs, or of modules that are gone.
    for folder in reports(&project)? {
        cache::remove(&folder)?;
    }
    let succeeded = step.succeeds(
        maven::offline(ctx, &maven::repository(ctx)?)
            .arg(format!("-Dnearside.library.path={}", ctx.libraries().display()))
            .args(["--fail-at-end", "test"])
            .current_dir(&project),
    )?;
    let mut counts = Counts::default();
    for folder in reports(&project)? {
        for entry in fs::read_dir(&folder)? {
            let path = entry?.path();
            if path.extension().is_some_and(|extension| extension == "xml") {
                let report = fs::read_to_string(&path)?;
                counts +=
                    summary::junit(&report).with_context(|| format!("{} is no report", path.display()))?;
            }
        }
    }
    Ok(Run { counts, succeeded, failures: None })
}

/// The folders that Surefire has written reports to.
fn reports(project: &Path) -> Result<Vec<PathBuf>> {
    let modules = maven::poms(project)?;
    let folders = modules.iter().map(|pom| pom.with_file_name("target").join("surefire-reports"));
    Ok(folders.filter(|folder| folder.is_dir()).collect())
}
