//! What this machine is, and how to become root on it.

use std::env;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

/// Operating system.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Os {
    Linux(Distro),
    Macos,
    Other,
}

/// What `/etc/os-release` says.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Distro {
    /// `debian`, `ubuntu`, ...
    pub(crate) id: String,
    /// Distributions that this one derives from.
    pub(crate) id_like: Vec<String>,
    /// `bookworm`, `noble`, ...
    pub(crate) codename: String,
    /// `12`, `24.04`, ...; empty for a release in the making.
    pub(crate) version: String,
}

impl Distro {
    /// Reads the text of an os-release file (format: os-release(5)).
    pub(crate) fn parse(os_release: &str) -> Self {
        let field = |name: &str| {
            let line = os_release.lines().find_map(|line| line.trim().strip_prefix(name)?.strip_prefix('='));
            line.unwrap_or_default().trim_matches(['"', '\'']).to_owned()
        };
        let id_like = field("ID_LIKE").split_whitespace().map(str::to_owned).collect();
        Self { id: field("ID"), id_like, codename: field("VERSION_CODENAME"), version: field("VERSION_ID") }
    }

    /// Debian itself, whose mirror also has the suite of the Swift chroot.
    pub(crate) fn is_debian(&self) -> bool {
        self.id == "debian"
    }

    /// Debian 13 and later have Swift 6 among their packages.
    pub(crate) fn packages_swift(&self) -> bool {
        let major = self.version.split('.').next().unwrap_or_default();
        self.is_debian() && (major.is_empty() || major.parse().is_ok_and(|major: u32| major >= 13))
    }

    /// Debian, Ubuntu or a derivative: apt-get installs packages.
    pub(crate) fn has_apt(&self) -> bool {
        let ours = |id: &str| id == "debian" || id == "ubuntu";
        ours(&self.id) || self.id_like.iter().any(|id| ours(id))
    }
}

/// Processor architecture.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Arch {
    X86_64,
    Aarch64,
    Other,
}

/// How commands are run as root.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Root {
    /// This process is root.
    Already,
    /// sudo asks for no password.
    Sudo,
    /// A person has to.
    No,
}

/// This machine.
pub(crate) struct Host {
    pub(crate) os: Os,
    pub(crate) arch: Arch,
    pub(crate) root: Root,
}

impl Host {
    /// Looks at the machine.
    pub(crate) fn detect() -> Self {
        let os = match env::consts::OS {
            "linux" => Os::Linux(Distro::parse(&fs::read_to_string("/etc/os-release").unwrap_or_default())),
            "macos" => Os::Macos,
            _ => Os::Other,
        };
        let arch = match env::consts::ARCH {
            "x86_64" => Arch::X86_64,
            "aarch64" => Arch::Aarch64,
            _ => Arch::Other,
        };
        Self { os, arch, root: Root::detect() }
    }

    /// Debian itself.
    pub(crate) fn is_debian(&self) -> bool {
        matches!(&self.os, Os::Linux(distro) if distro.is_debian())
    }

    /// Whether packages can be installed with apt-get.
    pub(crate) fn has_apt(&self) -> bool {
        matches!(&self.os, Os::Linux(distro) if distro.has_apt())
    }
}

impl Root {
    fn detect() -> Self {
        if user_id("-u") == Some(0) {
            return Self::Already;
        }
        if quiet("sudo", &["-n", "true"]) { Self::Sudo } else { Self::No }
    }

    /// The command `program`, run as root.
    pub(crate) fn command(self, program: &str) -> Command {
        if self == Self::Sudo {
            let mut command = Command::new("sudo");
            command.args(["-n", "--", program]);
            return command;
        }
        Command::new(program)
    }
}

/// The number that `id` answers: `-u` for the user, `-g` for the group.
pub(crate) fn user_id(flag: &str) -> Option<u32> {
    let output = Command::new("id").arg(flag).output().ok()?;
    String::from_utf8(output.stdout).ok()?.trim().parse().ok()
}

/// Whether a command succeeds, whatever it prints.
pub(crate) fn quiet(program: impl AsRef<std::ffi::OsStr>, args: &[&str]) -> bool {
    let null = Stdio::null;
    let status = Command::new(program).args(args).stdin(null()).stdout(null()).stderr(null()).status();
    status.is_ok_and(|status| status.success())
}

/// Where a program is on PATH.
pub(crate) fn which(program: &str) -> Option<PathBuf> {
    // As root by su or cron, PATH may lack the folders of debootstrap and chroot.
    let more = ["/usr/sbin", "/sbin"].map(PathBuf::from);
    let path = env::var_os("PATH").unwrap_or_default();
    env::split_paths(&path).chain(more).map(|folder| folder.join(program)).find(|file| is_program(file))
}

#[cfg(unix)]
fn is_program(file: &Path) -> bool {
    use std::os::unix::fs::PermissionsExt;
    file.metadata().is_ok_and(|data| data.is_file() && data.permissions().mode() & 0o111 != 0)
}

#[cfg(not(unix))]
fn is_program(file: &Path) -> bool {
    file.is_file()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn debian_is_recognised_from_its_os_release() {
        let distro = Distro::parse(
            "PRETTY_NAME=\"Debian GNU/Linux 12 (bookworm)\"\nVERSION_ID=\"12\"\nVERSION_CODENAME=bookworm\nID=debian\n",
        );
        assert_eq!((distro.id.as_str(), distro.codename.as_str()), ("debian", "bookworm"));
        assert!(distro.is_debian() && distro.has_apt());
    }

    #[test]
    fn swift_is_a_package_since_debian_13() {
        let packages = |os_release: &str| Distro::parse(os_release).packages_swift();
        assert!(packages("ID=debian\nVERSION_ID=\"13\"") && packages("ID=debian\n"));
        assert!(!packages("ID=debian\nVERSION_ID=\"12\"") && !packages("ID=ubuntu\nVERSION_ID=\"24.04\""));
    }

    #[test]
    fn ubuntu_has_apt_but_is_not_debian() {
        let distro = Distro::parse("NAME=\"Ubuntu\"\nVERSION_CODENAME=noble\nID=ubuntu\nID_LIKE=debian\n");
        assert!(distro.has_apt() && !distro.is_debian());
    }

    #[test]
    fn a_derivative_is_known_by_what_it_is_like() {
        assert!(Distro::parse("ID=linuxmint\nID_LIKE=\"ubuntu debian\"").has_apt());
        assert!(!Distro::parse("ID=fedora\nVERSION_CODENAME=\"\"").has_apt());
    }
}
