//! Maven's repository: filled once, checked against a lock, then used offline.
//!
//! Maven has no lock file of its own. Ours lists the SHA-256 of every jar that building, testing and linting the
//! Kotlin side takes, Maven's own plugins included. The repository of a lock is a folder of its own, so checkouts
//! with other dependencies don't get in each other's way.

use super::Context;
use super::pins::{KTLINT, MAVEN_DEPENDENCY_PLUGIN};
use crate::cache::{self, Scratch};
use crate::progress::{self, Step};
use anyhow::{Context as _, Result, bail};
use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

/// The lock, relative to the checkout.
const LOCK: &str = "bindings/kotlin/maven.lock";

/// The Maven project.
pub(crate) fn project(ctx: &Context) -> PathBuf {
    ctx.root.join("bindings/kotlin")
}

/// The repository that fits the lock of this checkout.
pub(crate) fn repository(ctx: &Context) -> Result<PathBuf> {
    Ok(repository_of(ctx, &read_lock(ctx)?))
}

fn repository_of(ctx: &Context, lock: &str) -> PathBuf {
    ctx.cache.path(&format!("maven-{}", &cache::sha256(lock.as_bytes())[..12]))
}

fn read_lock(ctx: &Context) -> Result<String> {
    fs::read_to_string(ctx.root.join(LOCK))
        .with_context(|| format!("{LOCK} is missing; `cargo xtask setup --update-locks` writes it"))
}

/// The runnable jar of ktlint.
pub(crate) fn ktlint(ctx: &Context) -> Result<PathBuf> {
    Ok(repository(ctx)?.join(format!("com/pinterest/ktlint/ktlint-cli/{KTLINT}/ktlint-cli-{KTLINT}-all.jar")))
}

/// Maven, allowed nothing but what is in `repository`.
pub(crate) fn offline(ctx: &Context, repository: &Path) -> Command {
    let mut command = maven(ctx, repository);
    command.arg("--offline");
    command
}

fn maven(_ctx: &Context, repository: &Path) -> Command {
    let mut command = Command::new("mvn");
    command.args(["--batch-mode", "--no-transfer-progress", "--strict-checksums"]);
    command.arg(format!("-Dmaven.repo.local={}", repository.display()));
    command
}

/// Fills the repository unless it is there.
pub(crate) fn ensure(ctx: &Context) -> Result<()> {
    let lock = read_lock(ctx)?;
    let repository = repository_of(ctx, &lock);
    if repository.is_dir() {
        return Ok(());
    }
    progress::step(&ctx.cache, "Fetch Maven artefacts", |step| {
        let scratch = resolve(ctx, step)?;
        verify(&parse(&lock)?, &jars(&scratch.path().join("repository"))?)?;
        scratch.publish("repository", &repository)
    })
}

/// Resolves everything anew and writes the lock.
pub(crate) fn update_lock(ctx: &Context) -> Result<()> {
    progress::step(&ctx.cache, "Update the lock of Maven artefacts", |step| {
        let scratch = resolve(ctx, step)?;
        let mut lock =
            "# SHA-256 of every Maven artefact in use; written by `cargo xtask setup --update-locks`.\n"
                .to_owned();
        for (path, sha256) in jars(&scratch.path().join("repository"))? {
            writeln!(lock, "{sha256}  {path}")?;
        }
        fs::write(ctx.root.join(LOCK), &lock)?;
        scratch.publish("repository", &repository_of(ctx, &lock))
    })
}

/// Builds a copy of the project that has one trivial source file and one trivial test, so that every plugin that a
/// build and a test run take is fetched, also those that Maven picks only then. Gives a folder with `repository`.
fn resolve(ctx: &Context, step: &Step) -> Result<Scratch> {
    let scratch = ctx.cache.scratch("maven")?;
    let (repository, copy) = (scratch.path().join("repository"), scratch.path().join("project"));
    let project = project(ctx);
    for pom in poms(&project)? {
        let target = copy.join(pom.strip_prefix(&project)?);
        let module = target.parent().context("a pom has a folder")?;
        let tests = module.join("src/test/kotlin");
        fs::create_dir_all(&tests)?;
        fs::create_dir_all(module.join("src/main/kotlin"))?;
        fs::copy(&pom, &target)?;
        fs::write(module.join("src/main/kotlin/WarmUp.kt"), "class WarmUp\n")?;
        fs::write(
            tests.join("WarmUpTest.kt"),
            "class WarmUpTest {\n    @org.junit.jupiter.api.Test\n    fun warmUp() {\n        WarmUp()\n    }\n}\n",
        )?;
    }
    step.run(maven(ctx, &repository).arg("test").current_dir(&copy))?;
    step.run(
        maven(ctx, &repository)
            .arg(format!("org.apache.maven.plugins:maven-dependency-plugin:{MAVEN_DEPENDENCY_PLUGIN}:get"))
            .arg(format!("-Dartifact=com.pinterest.ktlint:ktlint-cli:{KTLINT}:jar:all"))
            .arg("-Dtransitive=false")
            .current_dir(scratch.path()),
    )?;
    Ok(scratch)
}

/// The project's pom.xml and those of its modules.
pub(crate) fn poms(project: &Path) -> Result<Vec<PathBuf>> {
    let mut poms = Vec::new();
    let root = project.join("pom.xml");
    if !root.is_file() {
        bail!("{} is missing", root.display());
    }
    poms.push(root);
    for entry in fs::read_dir(project)? {
        let pom = entry?.path().join("pom.xml");
        if pom.is_file() {
            poms.push(pom);
        }
    }
    Ok(poms)
}

/// Every file of a repository that holds code, by path in it, with its SHA-256. POMs and Maven's own notes aren't
/// listed: whatever they lead to has to be a listed jar.
fn jars(repository: &Path) -> Result<BTreeMap<String, String>> {
    let mut found = BTreeMap::new();
    let mut folders = vec![repository.to_owned()];
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(&folder)? {
            let path = entry?.path();
            if path.is_dir() {
                folders.push(path);
            } else if path.extension().is_some_and(|extension| extension == "jar") {
                let name = path.strip_prefix(repository)?.display().to_string();
                found.insert(name, cache::sha256_file(&path)?);
            }
        }
    }
    Ok(found)
}

/// Reads a lock, whose lines are as `sha256sum` writes them.
fn parse(lock: &str) -> Result<BTreeMap<String, String>> {
    let line = |line: &str| {
        let (sha256, path) =
            line.split_once("  ").with_context(|| format!("{LOCK}: not a line of it: {line}"))?;
        Ok((path.to_owned(), sha256.to_owned()))
    };
    lock.lines().filter(|text| !text.is_empty() && !text.starts_with('#')).map(line).collect()
}

/// Everything found must be listed, with the same contents. Another Maven may need less.
fn verify(lock: &BTreeMap<String, String>, found: &BTreeMap<String, String>) -> Result<()> {
    let mut wrong = Vec::new();
    for (path, sha256) in found {
        match lock.get(path) {
            None => wrong.push(format!("{path} is not listed")),
            Some(listed) if listed != sha256 => {
                wrong.push(format!("{path} has SHA-256 {sha256}, not {listed}"))
            }
            Some(_) => {}
        }
    }
    if wrong.is_empty() {
        return Ok(());
    }
    bail!(
        "what Maven fetched does not agree with {LOCK}:\n  {}\nif the dependencies were changed on purpose, run \
         `cargo xtask setup --update-locks`",
        wrong.join("\n  ")
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    fn lock() -> BTreeMap<String, String> {
        parse("# A comment.\n01ab  org/a/1/a-1.jar\n02cd  org/b/2/b-2.jar\n").unwrap()
    }

    fn found(files: &[(&str, &str)]) -> BTreeMap<String, String> {
        files.iter().map(|(path, sha256)| (path.to_string(), sha256.to_string())).collect()
    }

    #[test]
    fn listed_jars_with_their_contents_pass_and_unused_lines_do_no_harm() {
        verify(&lock(), &found(&[("org/a/1/a-1.jar", "01ab")])).unwrap();
    }

    #[test]
    fn a_changed_jar_is_named() {
        let error = verify(&lock(), &found(&[("org/a/1/a-1.jar", "ffff")])).unwrap_err().to_string();
        assert!(error.contains("org/a/1/a-1.jar has SHA-256 ffff, not 01ab"), "{error}");
    }

    #[test]
    fn an_unlisted_jar_is_named() {
        let error = verify(&lock(), &found(&[("org/c/1/c-1.jar", "01ab")])).unwrap_err().to_string();
        assert!(error.contains("org/c/1/c-1.jar is not listed"), "{error}");
    }

    #[test]
    fn a_line_that_is_no_lock_line_is_an_error() {
        assert!(parse("org/a/1/a-1.jar").is_err());
    }
}
