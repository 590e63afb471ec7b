//! The tests of what has kernels for 64-bit ARM, on emulated processors of two ages.

use super::Run;
use super::rust;
use crate::progress::Step;
use crate::setup::Context;
use crate::setup::arm64::TARGET;
use anyhow::Result;

/// ARMv8.0, without dot products and half floats; and ARMv8.2 with both.
const CPUS: [&str; 2] = ["cortex-a53", "cortex-a76"];

/// Where Debian's cross compiler keeps the target's libraries.
const SYSROOT: &str = "/usr/aarch64-linux-gnu";

/// Fewer than natively, where the same properties have run already: what differs here is the kernels.
const PROPTEST_CASES: &str = "100";

pub(super) fn run(ctx: &Context, step: &Step) -> Result<Run> {
    let mut succeeded = true;
    for cpu in CPUS {
        let mut command = ctx.cargo();
        command
            .args(["test", "--package", "nearside-vision", "--no-fail-fast", "--target", TARGET])
            .env("CARGO_TARGET_AARCH64_UNKNOWN_LINUX_GNU_LINKER", "aarch64-linux-gnu-gcc")
            .env(
                "CARGO_TARGET_AARCH64_UNKNOWN_LINUX_GNU_RUNNER",
                format!("qemu-aarch64 -cpu {cpu} -L {SYSROOT}"),
            )
            .env("PROPTEST_CASES", PROPTEST_CASES);
        succeeded &= step.succeeds(&mut command)?;
    }
    Ok(rust::read(step, succeeded))
}
