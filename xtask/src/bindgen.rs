//! `cargo xtask bindgen`: the Kotlin and Swift that UniFFI generates from the built library.

use crate::cache;
use crate::progress;
use crate::setup::Context;
use anyhow::Result;
use std::process::Command;

/// Where each language's build looks for what is generated. None of it is committed.
const LANGUAGES: [(&str, &str); 2] =
    [("kotlin", "bindings/kotlin/core/generated"), ("swift", "bindings/swift/generated")];

/// Builds the library and generates the bindings.
pub(crate) fn run(ctx: &Context) -> Result<()> {
    progress::step(&ctx.cache, "Build the library", |step| {
        step.run(ctx.cargo().args(["build", "--package", "nearside-sdk", "--package", "nearside-bindgen"]))
    })?;
    progress::step(&ctx.cache, "Generate bindings", |step| {
        for (language, folder) in LANGUAGES {
            let folder = ctx.root.join(folder);
            cache::remove(&folder)?;
            step.run(
                Command::new(ctx.libraries().join("nearside-bindgen"))
                    .arg("generate")
                    .arg(ctx.library())
                    .args(["--config", "uniffi.toml", "--no-format", "--language", language, "--out-dir"])
                    .arg(&folder)
                    .current_dir(&ctx.root),
            )?;
        }
        Ok(())
    })
}
