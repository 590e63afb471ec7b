//! The tests of delegates that need their makers' libraries.

use super::Run;
use super::rust;
use crate::progress::Step;
use crate::setup::pins::{OPENVINO, OPENVINO_LIBRARY, QNN, QNN_FOLDER};
use crate::setup::{Context, wheels};
use anyhow::Result;

pub(super) fn run(ctx: &Context, step: &Step) -> Result<Run> {
    let mut command = ctx.cargo();
    command
        // All packages, so that features are the same as in the Rust suite and nothing is compiled anew.
        .args(["test", "--workspace", "--no-fail-fast", "--test", "openvino", "--test", "qnn"])
        .env("NEARSIDE_TEST_OPENVINO", wheels::folder(ctx, &OPENVINO).join(OPENVINO_LIBRARY))
        .env("NEARSIDE_TEST_QNN", wheels::folder(ctx, &QNN).join(QNN_FOLDER));
    rust::counted(step, &mut command)
}
