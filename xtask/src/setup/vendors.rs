//! Libraries of makers of processors, which delegates open at run time: for the tests only, fetched from PyPI.

use super::Context;
use super::host::{Arch, Host, Os};
use super::pins::{OPENVINO, QNN};
use super::wheels;
use anyhow::{Result, bail};

/// Whether ExecuTorch's wheel has the delegates that open them.
pub(crate) fn exist_for(host: &Host) -> bool {
    matches!((&host.os, host.arch), (Os::Linux(_), Arch::X86_64))
}

/// Fetches what is not there.
pub(crate) fn ensure(ctx: &Context) -> Result<()> {
    if !exist_for(&ctx.host) {
        bail!("OpenVINO's and QNN's delegates are in ExecuTorch's wheel for Linux x86_64 only");
    }
    [&OPENVINO, &QNN].into_iter().try_for_each(|wheel| wheels::ensure(ctx, wheel))
}
