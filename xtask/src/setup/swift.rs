//! Swift: the system's own where there is one, else Debian's in a chroot.

use super::host::{Os, Root};
use super::tools::Tool;
use super::{Context, apt, executorch, pins};
use crate::progress::{self, Step};
use anyhow::{Result, bail};
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

/// How Swift is run here.
pub(crate) enum Swift {
    /// `swift` on PATH.
    Native,
    /// In a Debian of its own. Its packages are pinned by apt's signatures.
    Chroot(PathBuf),
}

impl Swift {
    /// The one that suits this machine, whether it is set up yet or not.
    pub(crate) fn of(ctx: &Context) -> Self {
        match &ctx.host.os {
            Os::Linux(distro) if !on_path() && !distro.packages_swift() => {
                Self::Chroot(ctx.cache.path(&format!("swift-{}", pins::SWIFT_SUITE)))
            }
            _ => Self::Native,
        }
    }

    /// The program of the system that it takes to have it.
    pub(crate) fn tools(&self) -> &'static [Tool] {
        match self {
            Self::Native => &[Tool::Swift],
            Self::Chroot(root) if is_complete(root) => &[],
            Self::Chroot(_) => &[Tool::Debootstrap],
        }
    }

    /// A command that runs `swift ARGS` in `folder`. In a chroot it sees the checkout, the target folder and
    /// ExecuTorch at the same paths as here and nothing else of this machine, and no mount outlives it.
    pub(crate) fn command(&self, ctx: &Context, folder: &Path, args: &[String]) -> Command {
        let root = match self {
            Self::Native => {
                let mut command = Command::new("swift");
                command.args(args).current_dir(folder);
                return command;
            }
            Self::Chroot(root) => root,
        };
        let mut command = ctx.host.root.command("unshare");
        command.args(["--mount", "--propagation", "private", "sh", "-euc", IN_CHROOT, "swift"]);
        command.arg(root).arg(user());
        command.args([&ctx.root, &ctx.target, &executorch::folder(ctx)]).arg(folder).args(args);
        command
    }
}

/// Run in a mount namespace of its own. Arguments: the chroot, USER:GROUP, three folders to share, the one of them
/// to work in, then Swift's own. Swift ends with 127 where /proc is missing.
const IN_CHROOT: &str = r#"
root=$1 user=$2
mount -t proc proc "$root/proc"
mount --rbind /dev "$root/dev"
for folder in "$3" "$4" "$5"; do
    mkdir -p "$root$folder"
    mount --bind "$folder" "$root$folder"
done
shift 5
exec chroot --userspec="$user" "$root" env -i PATH=/usr/bin:/bin HOME=/tmp LANG=C.UTF-8 \
    sh -euc 'cd "$1"; shift; exec swift "$@"' swift "$@"
"#;

/// Files that Swift writes belong to who runs this, not to root.
fn user() -> String {
    let id = |flag| super::host::user_id(flag).unwrap_or_default();
    format!("{}:{}", id("-u"), id("-g"))
}

/// Whether there is a Swift compiler on PATH (OpenStack has a program of that name too).
pub(crate) fn on_path() -> bool {
    let output = Command::new("swift").arg("--version").output();
    output.is_ok_and(|output| String::from_utf8_lossy(&output.stdout).contains("Swift version"))
}

/// A chroot comes into its place only when it is whole. Its `swift` links to a path that exists inside only.
fn is_complete(root: &Path) -> bool {
    root.join("usr/bin/swift").is_symlink()
}

/// Makes the chroot if Swift is run in one and it isn't there.
pub(crate) fn ensure(ctx: &Context) -> Result<()> {
    let (Swift::Chroot(root), Os::Linux(distro)) = (Swift::of(ctx), &ctx.host.os) else { return Ok(()) };
    if ctx.host.root == Root::No {
        bail!(
            "Swift runs in a Debian chroot here, which needs root or passwordless sudo; or install a Swift 6 toolchain \
             so that `swift` is on PATH"
        );
    }
    if is_complete(&root) {
        return Ok(());
    }
    // On another distribution than Debian none is given, and debootstrap takes the public one that it knows.
    let mirror = apt::debian_mirror(distro).unwrap_or_default();
    progress::step(&ctx.cache, "Make a Debian chroot with Swift", |step| make(ctx, step, &root, &mirror))
}

fn make(ctx: &Context, step: &Step, root: &Path, mirror: &str) -> Result<()> {
    // Not a `Scratch`: the folder belongs to root, who may be another user.
    let half = root.with_extension(format!("half-{}", std::process::id()));
    let made = step.run(
        ctx.host
            .root
            .command("unshare")
            .args(["--mount", "--propagation", "private", "sh", "-euc", MAKE, "make"])
            .args([half.as_path(), root])
            .args([pins::SWIFT_SUITE, mirror])
            .args(pins::SWIFT_PACKAGES),
    );
    if made.is_err() && half.exists() {
        step.succeeds(ctx.host.root.command("rm").arg("-rf").arg(&half))?;
    }
    fs::metadata(root).map(drop).or(made)
}

/// Arguments: where to make the chroot, where it goes when it is complete, suite, mirror, packages.
/// debootstrap and apt check every package against Debian's signing keys: that is the pin here.
const MAKE: &str = r#"
half=$1 root=$2 suite=$3 mirror=$4
shift 4
export DEBIAN_FRONTEND=noninteractive LC_ALL=C PATH=$PATH:/usr/sbin:/sbin
keyring=/usr/share/keyrings/debian-archive-keyring.gpg
debootstrap --variant=minbase --force-check-gpg --keyring="$keyring" "$suite" "$half" ${mirror:+"$mirror"}
echo 'Acquire::Languages "none";' > "$half/etc/apt/apt.conf.d/99no-translations"
mountpoint -q "$half/proc" || mount -t proc proc "$half/proc"
chroot "$half" apt-get update
chroot "$half" apt-get install -y --no-install-recommends "$@"
chroot "$half" apt-get clean
rm -rf "$half"/var/lib/apt/lists/*
umount "$half/proc"
rm -rf "$root"
mv "$half" "$root"
"#;
