//! Programs of the system that set-up relies on: whether they are there, and the packages that bring them.

use super::host::{Host, Os, Root, quiet, which};
use super::{apt, java, pins, swift};
use crate::cache::Cache;
use crate::progress;
use anyhow::{Result, bail};
use std::fmt::Write as _;
use std::io::Write as _;
use std::process::{Command, Stdio};

/// A program that the system has or must get.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Tool {
    /// A compiler for C++17.
    Cxx,
    /// Python 3 with pip, or with what makes a virtual environment that has it.
    Python,
    /// A JDK, 17 or later.
    Jdk,
    Maven,
    Debootstrap,
    /// A Swift 6 toolchain.
    Swift,
    /// A C++ compiler for 64-bit ARM.
    CrossCxx,
    /// What runs programs for 64-bit ARM.
    Qemu,
    /// A peer of the benchmarks.
    Libyuv,
}

impl Tool {
    fn present(self) -> bool {
        match self {
            Self::Cxx => compiles_cxx17(),
            Self::Python => quiet("python3", &["-c", "import ensurepip, venv"]),
            Self::Jdk => java::version().is_some_and(|version| version >= java::MINIMUM),
            Self::Maven => which("mvn").is_some(),
            Self::Debootstrap => which("debootstrap").is_some(),
            Self::Swift => swift::on_path(),
            Self::CrossCxx => which("aarch64-linux-gnu-g++").is_some(),
            Self::Qemu => which("qemu-aarch64").is_some(),
            Self::Libyuv => links("libyuv.so.0"),
        }
    }

    fn name(self) -> &'static str {
        match self {
            Self::Cxx => "a C++17 compiler",
            Self::Python => "Python 3 with venv",
            Self::Jdk => "a JDK of 17 or later",
            Self::Maven => "Maven",
            Self::Debootstrap => "debootstrap",
            Self::Swift => "Swift 6",
            Self::CrossCxx => "a C++ compiler for ARM64",
            Self::Qemu => "QEMU's emulator of ARM64",
            Self::Libyuv => "libyuv",
        }
    }

    fn debian_packages(self, host: &Host) -> Vec<&'static str> {
        match self {
            Self::Cxx => vec!["g++"],
            Self::Python => vec!["python3", "python3-venv"],
            // The default JDK of older releases is older than 17.
            Self::Jdk => vec![apt::first_offered(&["openjdk-17-jdk-headless", "default-jdk-headless"])],
            Self::Maven => vec!["maven"],
            Self::Swift => pins::SWIFT_PACKAGES.to_vec(),
            Self::CrossCxx => vec!["g++-aarch64-linux-gnu"],
            Self::Qemu => vec!["qemu-user"],
            Self::Libyuv => vec!["libyuv-dev"],
            Self::Debootstrap if host.is_debian() => vec!["debootstrap"],
            Self::Debootstrap => vec!["debootstrap", "debian-archive-keyring"],
        }
    }

    fn homebrew(self) -> &'static str {
        match self {
            // Comes with Xcode's command line tools, and so does git.
            Self::Cxx => "llvm",
            Self::Python => "python@3.11",
            Self::Jdk => "openjdk@17",
            Self::Maven => "maven",
            Self::Debootstrap => "debootstrap",
            Self::Swift => "swift",
            Self::CrossCxx => "aarch64-unknown-linux-gnu",
            Self::Qemu => "qemu",
            Self::Libyuv => "libyuv",
        }
    }
}

/// Installs those of `tools` that are missing, or says in one line what to run.
pub(crate) fn ensure(cache: &Cache, host: &Host, tools: &[Tool]) -> Result<()> {
    let missing: Vec<Tool> = tools.iter().copied().filter(|tool| !tool.present()).collect();
    if missing.is_empty() {
        return Ok(());
    }
    if !host.has_apt() || host.root == Root::No {
        bail!("{}", advice(host, &missing));
    }
    progress::step(cache, &format!("Install {} with apt-get", names(&missing)), |step| {
        apt::list_packages(host, step)?;
        apt::install(host, step, &debian_packages(host, &missing))
    })?;
    match missing.iter().find(|tool| !tool.present()) {
        Some(tool) => bail!(
            "{tool:?} is still not usable after installing {}",
            debian_packages(host, &missing).join(", ")
        ),
        None => Ok(()),
    }
}

/// Those of `tools` that are missing, if any, in words.
pub(crate) fn missing(tools: &[Tool]) -> Option<String> {
    let missing: Vec<Tool> = tools.iter().copied().filter(|tool| !tool.present()).collect();
    (!missing.is_empty()).then(|| names(&missing))
}

fn names(tools: &[Tool]) -> String {
    tools.iter().map(|tool| tool.name()).collect::<Vec<_>>().join(", ")
}

fn debian_packages(host: &Host, tools: &[Tool]) -> Vec<&'static str> {
    let mut packages: Vec<_> = tools.iter().flat_map(|tool| tool.debian_packages(host)).collect();
    packages.dedup();
    packages
}

/// What a person has to run to get `missing`.
fn advice(host: &Host, missing: &[Tool]) -> String {
    let mut text = "this machine lacks what is needed; run this, then try again:\n    ".to_owned();
    let brew = || missing.iter().map(|tool| tool.homebrew()).collect::<Vec<_>>().join(" ");
    // Writing to a string cannot fail.
    let _ = match &host.os {
        _ if host.has_apt() => {
            write!(text, "sudo apt-get install -y {}", debian_packages(host, missing).join(" "))
        }
        Os::Macos => write!(text, "brew install {}", brew()),
        _ => write!(text, "(your package manager) install {}", names(missing)),
    };
    text
}

/// Whether the dynamic linker knows a library.
fn links(library: &str) -> bool {
    let output = which("ldconfig").and_then(|ldconfig| Command::new(ldconfig).arg("-p").output().ok());
    output.is_some_and(|output| String::from_utf8_lossy(&output.stdout).contains(library))
}

/// Whether the compiler that Cargo's `cc` would take knows C++17.
fn compiles_cxx17() -> bool {
    let compiler = std::env::var("CXX").unwrap_or_else(|_| "c++".to_owned());
    let mut words = compiler.split_whitespace();
    let Some(program) = words.next() else { return false };
    let mut command = Command::new(program);
    command.args(words).args(["-std=c++17", "-fsyntax-only", "-x", "c++", "-"]);
    let Ok(mut child) = command.stdin(Stdio::piped()).stdout(Stdio::null()).stderr(Stdio::null()).spawn()
    else {
        return false;
    };
    let source = b"#include <optional>\nint main() { return std::optional<int>{0}.value(); }\n";
    let written = child.stdin.take().is_some_and(|mut stdin| stdin.write_all(source).is_ok());
    written && child.wait().is_ok_and(|status| status.success())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::setup::host::{Arch, Distro};

    fn host(os: Os) -> Host {
        Host { os, arch: Arch::X86_64, root: Root::No }
    }

    #[test]
    fn without_root_one_line_of_apt_get_is_advised() {
        let ubuntu = host(Os::Linux(Distro::parse("ID=ubuntu\nID_LIKE=debian")));
        let text = advice(&ubuntu, &[Tool::Cxx, Tool::Debootstrap]);
        assert!(
            text.ends_with("\n    sudo apt-get install -y g++ debootstrap debian-archive-keyring"),
            "{text}"
        );
    }

    #[test]
    fn on_macos_homebrew_is_advised() {
        let text = advice(&host(Os::Macos), &[Tool::Jdk, Tool::Maven]);
        assert!(text.ends_with("\n    brew install openjdk@17 maven"), "{text}");
    }
}
