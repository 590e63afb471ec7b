//! Debian packages: installing them, and reading which mirror the system uses.

use super::host::{Distro, Host};
use crate::progress::Step;
use anyhow::Result;
use std::fs;
use std::path::PathBuf;
use std::process::Command;

/// Installs packages. The lists are refreshed only if that fails at first: a machine's other sources may be out of
/// order, which is no concern of ours.
pub(crate) fn install(host: &Host, step: &Step, packages: &[&str]) -> Result<()> {
    let install = || {
        let mut command = host.root.command("env");
        command.args([
            "DEBIAN_FRONTEND=noninteractive",
            "apt-get",
            "install",
            "-y",
            "--no-install-recommends",
        ]);
        command.args(packages);
        command
    };
    if step.succeeds(&mut install())? {
        return Ok(());
    }
    step.succeeds(host.root.command("apt-get").arg("update"))?;
    step.run(&mut install())
}

/// Fetches the lists of packages where there are none, as in a fresh container.
pub(crate) fn list_packages(host: &Host, step: &Step) -> Result<()> {
    if candidate("g++").is_none() {
        step.succeeds(host.root.command("apt-get").arg("update"))?;
    }
    Ok(())
}

/// The first of some packages that apt offers; the last if it offers none (its lists may be empty).
pub(crate) fn first_offered(packages: &'static [&'static str]) -> &'static str {
    let offered = |package: &&&str| candidate(package).is_some();
    packages.iter().find(offered).or(packages.last()).copied().unwrap_or_default()
}

/// The version that apt would install.
pub(crate) fn candidate(package: &str) -> Option<String> {
    let output = Command::new("apt-cache").env("LC_ALL", "C").args(["policy", package]).output().ok()?;
    parse_candidate(&String::from_utf8_lossy(&output.stdout))
}

fn parse_candidate(policy: &str) -> Option<String> {
    let version = policy.lines().find_map(|line| line.trim().strip_prefix("Candidate:"))?.trim();
    (version != "(none)").then(|| version.to_owned())
}

/// The Debian mirror that this machine is set up with, if it is a Debian machine.
pub(crate) fn debian_mirror(distro: &Distro) -> Option<String> {
    if !distro.is_debian() {
        return None;
    }
    let mut files = vec![PathBuf::from("/etc/apt/sources.list")];
    let more =
        fs::read_dir("/etc/apt/sources.list.d").into_iter().flatten().flatten().map(|entry| entry.path());
    let mut more: Vec<_> = more.collect();
    more.sort();
    files.extend(more);
    files.iter().find_map(|file| {
        let text = fs::read_to_string(file).ok()?;
        let sources = match file.extension()?.to_str()? {
            "list" => one_line_sources(&text),
            "sources" => deb822_sources(&text),
            _ => return None,
        };
        mirror_of(&sources, &distro.codename)
    })
}

/// One place that packages come from.
#[derive(Debug, PartialEq, Eq)]
struct Source {
    uri: String,
    suites: Vec<String>,
}

/// The first source that has the release itself (not its updates or security fixes) and that debootstrap can read.
fn mirror_of(sources: &[Source], codename: &str) -> Option<String> {
    let names = [codename, "stable", "oldstable", "testing", "unstable", "sid"];
    let reads = |uri: &str| ["http://", "https://", "file:"].iter().any(|scheme| uri.starts_with(scheme));
    let fits = |source: &&Source| {
        reads(&source.uri)
            && source.suites.iter().any(|suite| !suite.is_empty() && names.contains(&suite.as_str()))
    };
    sources.iter().find(fits).map(|source| source.uri.clone())
}

/// `deb [options] URI SUITE COMPONENT...` (sources.list(5)).
fn one_line_sources(text: &str) -> Vec<Source> {
    let parse = |line: &str| {
        let rest = line.trim().strip_prefix("deb")?;
        let rest = rest.strip_prefix(char::is_whitespace)?.trim_start();
        let rest = if rest.starts_with('[') { rest.split_once(']')?.1 } else { rest };
        let mut words = rest.split_whitespace();
        Some(Source { uri: words.next()?.to_owned(), suites: vec![words.next()?.to_owned()] })
    };
    text.lines().filter_map(parse).collect()
}

/// Paragraphs of `Field: value` lines with continuation lines and comments (sources.list(5), DEB822-STYLE).
fn deb822_sources(text: &str) -> Vec<Source> {
    let kept: Vec<&str> = text.lines().filter(|line| !line.starts_with('#')).collect();
    let mut sources = Vec::new();
    for paragraph in kept.split(|line| line.trim().is_empty()) {
        let field = |name: &str| -> Vec<String> {
            let mut words = Vec::new();
            let mut inside = false;
            for line in paragraph {
                let value = if line.starts_with([' ', '\t']) {
                    *line
                } else if let Some((key, value)) = line.split_once(':') {
                    inside = key.trim().eq_ignore_ascii_case(name);
                    value
                } else {
                    continue;
                };
                if inside {
                    words.extend(value.split_whitespace().map(str::to_owned));
                }
            }
            words
        };
        let disabled = field("Enabled").first().is_some_and(|word| word.eq_ignore_ascii_case("no"));
        if disabled || !field("Types").iter().any(|kind| kind == "deb") {
            continue;
        }
        let suites = field("Suites");
        sources.extend(field("URIs").into_iter().map(|uri| Source { uri, suites: suites.clone() }));
    }
    sources
}

#[cfg(test)]
mod tests {
    use super::*;

    const DEB822: &str = "\
Types: deb
URIs: https://mirror.example/debian-security
Suites: bookworm-security
Components: main

# The release.
Types: deb deb-src
# A comment between fields.
URIs: https://mirror.example/debian
Suites: bookworm
 bookworm-updates
Components: main
Signed-By: /usr/share/keyrings/debian-archive-keyring.gpg
";

    #[test]
    fn the_mirror_is_the_source_of_the_release_not_of_its_security_fixes() {
        let sources = deb822_sources(DEB822);
        assert_eq!(sources.len(), 2);
        assert_eq!(mirror_of(&sources, "bookworm").as_deref(), Some("https://mirror.example/debian"));
    }

    #[test]
    fn a_disabled_or_source_only_paragraph_is_left_out() {
        assert!(deb822_sources("Types: deb-src\nURIs: http://a/\nSuites: sid\n").is_empty());
        assert!(deb822_sources("Enabled: no\nTypes: deb\nURIs: http://a/\nSuites: sid\n").is_empty());
    }

    #[test]
    fn one_line_sources_are_read_with_and_without_options() {
        let text = "# deb http://old/ sid main\n\
            deb-src http://src/ bookworm main\n\
            deb [arch=amd64 signed-by=/key.gpg] http://a/debian bookworm main contrib\n\
            deb http://b/debian stable main\n";
        let sources = one_line_sources(text);
        assert_eq!(
            sources.iter().map(|s| s.uri.as_str()).collect::<Vec<_>>(),
            ["http://a/debian", "http://b/debian"]
        );
        assert_eq!(mirror_of(&sources, "bookworm").as_deref(), Some("http://a/debian"));
        assert_eq!(mirror_of(&sources, "trixie").as_deref(), Some("http://b/debian"));
    }

    #[test]
    fn a_transport_that_debootstrap_cannot_read_is_passed_over() {
        let sources = one_line_sources(
            "deb mirror+file:/etc/apt/mirrors.txt bookworm main\ndeb cdrom:[x]/ bookworm main",
        );
        assert_eq!(mirror_of(&sources, "bookworm"), None);
    }

    #[test]
    fn other_peoples_packages_are_no_debian_mirror() {
        let sources = one_line_sources("deb https://packages.example/ cloud-sdk-bookworm main");
        assert_eq!(mirror_of(&sources, "bookworm"), None);
    }

    #[test]
    fn the_candidate_is_read_from_apt_cache_policy() {
        let policy = "swiftlang:\n  Installed: (none)\n  Candidate: 6.0.3-2\n  Version table:\n";
        assert_eq!(parse_candidate(policy).as_deref(), Some("6.0.3-2"));
        assert_eq!(parse_candidate("maven:\n  Installed: (none)\n  Candidate: (none)\n"), None);
        assert_eq!(parse_candidate(""), None);
    }
}
