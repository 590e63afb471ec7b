//! `cargo xtask demo`: the main job on the bundled photos and clip.

use crate::progress;
use crate::setup::{self, Context, Part};
use anyhow::{Context as _, Result, bail};
use std::fs;
use std::path::PathBuf;
use std::process::Command;

const PACKAGE: &str = "models/efficientnet-lite0.nearside";
const MEDIA: &str = "models/media";
const CLIP: &str = "models/media/clip.y4m";

/// Sets up, builds the command-line tool and runs it as a user would.
pub(crate) fn run(ctx: &Context) -> Result<()> {
    setup::require(ctx, &Part::DEMO)?;
    progress::step(&ctx.cache, "Build nearside", |step| {
        step.run(ctx.cargo().args(["build", "--release", "--package", "nearside-cli"]))
    })?;
    let photos = photos(ctx)?;
    let mut run = vec!["run".to_owned(), PACKAGE.to_owned()];
    run.extend(photos);
    nearside(ctx, &run)?;
    nearside(ctx, &["camera", PACKAGE, CLIP, "--fps", "30"].map(str::to_owned))
}

/// The bundled photos, as paths in the checkout.
fn photos(ctx: &Context) -> Result<Vec<String>> {
    let entries = fs::read_dir(ctx.root.join(MEDIA)).with_context(|| format!("{MEDIA} is missing"))?;
    let mut photos = Vec::new();
    for entry in entries {
        let name = PathBuf::from(entry?.file_name());
        if name
            .extension()
            .is_some_and(|extension| ["jpg", "jpeg", "png"].iter().any(|known| extension == *known))
        {
            photos.push(format!("{MEDIA}/{}", name.display()));
        }
    }
    photos.sort();
    photos.truncate(2);
    if photos.is_empty() { bail!("{MEDIA} holds no photo") } else { Ok(photos) }
}

fn nearside(ctx: &Context, args: &[String]) -> Result<()> {
    println!("\n$ nearside {}", args.join(" "));
    let program = ctx.target.join("release/nearside");
    let status = Command::new(&program).args(args).current_dir(&ctx.root).status();
    let status = status.with_context(|| format!("cannot start {}", program.display()))?;
    if status.success() { Ok(()) } else { bail!("nearside ended with {status}") }
}
