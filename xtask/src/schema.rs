//! `cargo xtask schema`: the readers of ExecuTorch's files, generated from the schemas in its wheel by the `flatc` in it.

use crate::progress;
use crate::setup::{self, Context, Part};
use anyhow::{Context as _, Result};
use std::fs;
use std::process::Command;

/// Where the readers are, from the root.
const TARGET: &str = "crates/runtime/src/schema";

/// Each schema, from the wheel's `executorch` folder, and the file that is made of it.
const SCHEMAS: [(&str, &str); 3] = [
    ("schema/program.fbs", "program.rs"),
    ("extension/flat_tensor/serialize/flat_tensor.fbs", "flat_tensor.rs"),
    ("backends/xnnpack/serialization/runtime_schema.fbs", "xnnpack.rs"),
];

/// Writes the readers anew.
pub(crate) fn run(ctx: &Context) -> Result<()> {
    setup::require(ctx, &[Part::Python])?;
    let python = setup::python::EXPORT.python(ctx)?;
    progress::step(&ctx.cache, "Generate the schema readers", |step| {
        let found =
            Command::new(python).args(["-c", "import executorch; print(executorch.__path__[0])"]).output()?;
        let package = std::path::PathBuf::from(String::from_utf8(found.stdout)?.trim());
        for (schema, reader) in SCHEMAS {
            let scratch = ctx.cache.scratch("schema")?;
            step.run(
                Command::new(package.join("data/bin/flatc"))
                    .args(["--rust", "--gen-all", "-o"])
                    .arg(scratch.path())
                    .arg(package.join(schema)),
            )?;
            let made = fs::read_dir(scratch.path())?.next().context("flatc wrote nothing")??.path();
            fs::copy(made, ctx.root.join(TARGET).join(reader))?;
        }
        Ok(())
    })
}
