//! `cargo xtask demo`: the main job on the bundled photos and clip.

use crate::progress;
use crate::setup::{self, Context, Part};
use anyhow::{Context as _, Result, bail};
use std::process::Command;

const PACKAGE: &str = "models/efficientnet-lite0.nearside";
const PHOTOS: [&str; 2] = ["models/media/coffee.jpg", "models/media/chelsea.jpg"];
const CLIP: &str = "models/media/clip.y4m";

/// Sets up, builds the command-line tool and runs it as a user would.
pub(crate) fn run(ctx: &Context) -> Result<()> {
    setup::require(ctx, &Part::DEMO)?;
    progress::step(&ctx.cache, "Build nearside", |step| {
        step.run(ctx.cargo().args(["build", "--release", "--package", "nearside-cli"]))
    })?;
    nearside(ctx, &["run", PACKAGE, PHOTOS[0], PHOTOS[1]])?;
    nearside(ctx, &["camera", PACKAGE, CLIP, "--fps", "30"])
}

fn nearside(ctx: &Context, args: &[&str]) -> Result<()> {
    println!("\n$ nearside {}", args.join(" "));
    let program = ctx.target.join("release/nearside");
    let status = Command::new(&program).args(args).current_dir(&ctx.root).status();
    let status = status.with_context(|| format!("cannot start {}", program.display()))?;
    if status.success() { Ok(()) } else { bail!("nearside ended with {status}") }
}
