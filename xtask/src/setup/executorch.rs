//! ExecuTorch's C++ headers and libraries, taken from its wheel on PyPI.

use super::Context;
use super::pins::{self, EXECUTORCH, Wheel};
use super::python;
use crate::progress::{self, Step};
use anyhow::{Context as _, Result, bail};
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

/// Unpacks what a C++ program needs of the wheel: the Python in it stays out.
const UNPACK: &str = "
import pathlib, sys, zipfile
wheel, target = zipfile.ZipFile(sys.argv[1]), pathlib.Path(sys.argv[2])
kept = ('executorch/include/', 'executorch/lib/', 'executorch/share/')
for item in wheel.infolist():
    if item.is_dir():
        continue
    if item.filename.startswith(kept):
        name = item.filename.removeprefix('executorch/')
    elif '.dist-info/licenses/' in item.filename:
        name = 'licenses/' + item.filename.split('.dist-info/licenses/')[1]
    else:
        continue
    path = target / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(wheel.read(item))
";

/// The install that the build uses: `EXECUTORCH_DIR`, or the cache.
pub(crate) fn folder(ctx: &Context) -> PathBuf {
    overridden().unwrap_or_else(|| ctx.cache.path(&format!("executorch/{EXECUTORCH}")))
}

/// Whether nothing has to be fetched.
pub(crate) fn present(ctx: &Context) -> bool {
    overridden().is_some() || wheel(ctx).is_ok_and(|wheel| stamped(&folder(ctx), wheel))
}

/// Fetches ExecuTorch unless it is there.
pub(crate) fn ensure(ctx: &Context) -> Result<()> {
    if let Some(folder) = overridden() {
        for part in ["include", "lib"] {
            if !folder.join(part).is_dir() {
                bail!(
                    "EXECUTORCH_DIR is {}, which has no {part}/: point it at an ExecuTorch install that has include/ \
                     and lib/, or unset it to have ExecuTorch {EXECUTORCH} fetched",
                    folder.display()
                );
            }
        }
        return Ok(());
    }
    let what = format!("Fetch ExecuTorch {EXECUTORCH}");
    unpacked(ctx, &what, wheel(ctx)?, folder(ctx)).map(drop)
}

/// The install for 64-bit ARM on Linux, whatever machine this is; fetched unless it is there.
pub(crate) fn ensure_arm64(ctx: &Context) -> Result<PathBuf> {
    let folder = ctx.cache.path(&format!("executorch/{EXECUTORCH}-aarch64"));
    unpacked(ctx, &format!("Fetch ExecuTorch {EXECUTORCH} for 64-bit ARM"), &pins::LINUX_AARCH64, folder)
}

fn unpacked(ctx: &Context, what: &str, wheel: &Wheel, folder: PathBuf) -> Result<PathBuf> {
    if !stamped(&folder, wheel) {
        progress::step(&ctx.cache, what, |step| fetch(ctx, step, wheel, &folder))?;
    }
    Ok(folder)
}

fn fetch(ctx: &Context, step: &Step, wheel: &Wheel, target: &Path) -> Result<()> {
    let scratch = ctx.cache.scratch("executorch")?;
    let requirement = format!("executorch=={EXECUTORCH} --hash=sha256:{}", wheel.sha256);
    let file = python::download(ctx, step, &requirement, wheel.platform, scratch.path())?;
    let unpacked = scratch.path().join("unpacked");
    step.run(Command::new("python3").args(["-c", UNPACK]).arg(file).arg(&unpacked))?;
    fs::write(unpacked.join(STAMP), wheel.sha256)?;
    scratch.publish("unpacked", target)
}

/// The file in an unpacked wheel that says which wheel it was.
const STAMP: &str = ".wheel.sha256";

fn stamped(folder: &Path, wheel: &Wheel) -> bool {
    fs::read_to_string(folder.join(STAMP)).is_ok_and(|found| found == wheel.sha256)
}

fn overridden() -> Option<PathBuf> {
    std::env::var_os("EXECUTORCH_DIR")
        .filter(|dir| !dir.is_empty())
        .and_then(|dir| std::path::absolute(dir).ok())
}

fn wheel(ctx: &Context) -> Result<&'static Wheel> {
    pins::executorch_wheel(&ctx.host.os, ctx.host.arch).with_context(|| {
        format!(
            "ExecuTorch {EXECUTORCH} has no ready-made libraries for this machine: build it from source and set \
             EXECUTORCH_DIR to an install that has include/ and lib/"
        )
    })
}
