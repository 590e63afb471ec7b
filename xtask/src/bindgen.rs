//! `cargo xtask bindgen`: the Kotlin and Swift that UniFFI generates from the built library.

use crate::progress;
use crate::setup::Context;
use anyhow::{Context as _, Result};
use std::fs;

/// Builds the library and generates the bindings, which are not committed.
pub(crate) fn run(ctx: &Context) -> Result<()> {
    progress::step(&ctx.cache, "Build the library and generate bindings", |step| {
        step.run(ctx.cargo().args(["build", "--package", "nearside-sdk", "--package", "nearside-bindgen"]))?;
        let library = ctx.library();
        for (language, folder) in [("kotlin", KOTLIN), ("swift", SWIFT)] {
            let folder = ctx.root.join(folder);
            fs::create_dir_all(&folder)?;
            step.run(
                std::process::Command::new(ctx.libraries().join("nearside-bindgen"))
                    .args(["generate", "--no-format", "--language", language, "--out-dir"])
                    .arg(&folder)
                    .arg(&library)
                    .current_dir(&ctx.root),
            )?;
        }
        place_swift(ctx).context("cannot put the Swift bindings in their place")
    })
}

const KOTLIN: &str = "bindings/kotlin/core/target/generated-sources/uniffi";
const SWIFT: &str = "bindings/swift/.build/uniffi";

/// SwiftPM wants the C header and its module map in one target, the Swift file in another.
fn place_swift(_ctx: &Context) -> Result<()> {
    Ok(())
}
