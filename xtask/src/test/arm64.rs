//! The tests of what has kernels for 64-bit ARM, on emulated processors of several ages.

use super::Run;
use super::rust;
use crate::progress::Step;
use crate::setup::Context;
use crate::setup::arm64::TARGET;
use crate::setup::executorch;
use anyhow::Result;

/// A package's tests, and the processors that its kernels differ on.
struct Tested {
    cpus: &'static [&'static str],
    /// After `cargo test`.
    arguments: &'static [&'static str],
}

/// ARMv8.0, without dot products and half floats; ARMv8.2 with both; and all that the emulator has, for products of
/// matrices of bytes.
const TESTED: [Tested; 2] = [
    Tested { cpus: &["cortex-a53", "cortex-a76"], arguments: &["--package", "nearside-vision"] },
    Tested {
        cpus: &["cortex-a53", "cortex-a76", "max"],
        arguments: &["--package", "nearside-runtime", "--lib", "kernels"],
    },
];

/// Where Debian's cross compiler keeps the target's libraries.
const SYSROOT: &str = "/usr/aarch64-linux-gnu";

/// Fewer than natively, where the same properties have run already: what differs here is the kernels.
const PROPTEST_CASES: &str = "100";

pub(super) fn run(ctx: &Context, step: &Step) -> Result<Run> {
    let executorch = executorch::ensure_arm64(ctx)?;
    let mut succeeded = true;
    for Tested { cpus, arguments } in TESTED {
        for cpu in cpus {
            let mut command = ctx.cargo();
            command
                .args(["test", "--no-fail-fast", "--target", TARGET])
                .args(arguments)
                .env("CARGO_TARGET_AARCH64_UNKNOWN_LINUX_GNU_LINKER", "aarch64-linux-gnu-gcc")
                .env(
                    "CARGO_TARGET_AARCH64_UNKNOWN_LINUX_GNU_RUNNER",
                    format!("qemu-aarch64 -cpu {cpu} -L {SYSROOT}"),
                )
                .env("EXECUTORCH_DIR", &executorch)
                .env("PROPTEST_CASES", PROPTEST_CASES);
            succeeded &= step.succeeds(&mut command)?;
        }
    }
    Ok(rust::read(step, succeeded))
}
