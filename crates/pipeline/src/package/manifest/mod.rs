//! `manifest.json`, schema version 1. The same in JSON Schema: `docs/manifest.schema.json`.

mod document;
mod embedding;
mod file;
mod generation;
mod image;
mod quality;
mod task;
mod variant;
mod vision;

pub use embedding::{EmbeddingEntry, Pooling};
pub use file::FileEntry;
pub use generation::{GenerationDefaults, GenerationEntry};
pub use image::{Channels, Filter, Fit, ImageEntry, Layout};
pub use quality::{
    ClassifyGate, ClassifyQuality, DescribeGate, DescribeQuality, EmbedGate, EmbedQuality, GenerateGate,
    GenerateQuality, Quality,
};
pub use task::{Classify, Describe, Embed, Generate, Output, Task, TaskKind};
pub use variant::{MethodEntry, Variant};
pub use vision::VisionEntry;

use serde::{Deserialize, Serialize};
use std::collections::BTreeSet;

/// The schema version that this reader knows.
pub const SCHEMA_VERSION: u32 = 1;

/// A model package's manifest.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Manifest {
    /// [`SCHEMA_VERSION`].
    pub schema_version: u32,
    /// The model's name.
    pub name: String,
    /// SPDX id of the licence of the weights.
    pub licence: String,
    /// Where weights, architecture and labels come from.
    pub source: String,
    /// What it does, and what only that task needs to know. In JSON its fields stand beside the others.
    #[serde(flatten)]
    pub task: Task,
    /// The programs to choose from, in order of preference.
    pub variants: Vec<Variant>,
}

/// What is wrong with a manifest.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct ParseError(pub String);

impl Manifest {
    /// Reads the text of a `manifest.json` and checks all that can be checked without the package's other files.
    ///
    /// # Errors
    /// Another schema version or task, text that is not such a manifest, a field that the task does not have, no variants
    /// or two of a name, numbers that are not possible.
    pub fn parse(text: &str) -> Result<Self, ParseError> {
        let manifest = document::read(head(text)?, text)?;
        manifest.task.check()?;
        manifest.check_variants()?;
        Ok(manifest)
    }

    fn check_variants(&self) -> Result<(), ParseError> {
        if self.variants.is_empty() {
            return Err(ParseError("it has no variants".into()));
        }
        let mut names = BTreeSet::new();
        if let Some(variant) = self.variants.iter().find(|variant| !names.insert(variant.name.as_str())) {
            return Err(ParseError(format!("the variant `{}` is there twice", variant.name)));
        }
        self.variants.iter().try_for_each(Variant::check)
    }
}

/// Reads version and task by themselves first: a newer schema should be called that, not a list of unknown fields, and the
/// other fields depend on the task.
fn head(text: &str) -> Result<TaskKind, ParseError> {
    #[derive(Deserialize)]
    struct Version {
        schema_version: u32,
    }
    #[derive(Deserialize)]
    struct Head {
        task: TaskKind,
    }
    let Version { schema_version } = serde_json::from_str(text).map_err(not_a_manifest)?;
    if schema_version != SCHEMA_VERSION {
        return Err(ParseError(format!(
            "schema version {schema_version} is not known, this build reads {SCHEMA_VERSION}"
        )));
    }
    let Head { task } = serde_json::from_str(text).map_err(not_a_manifest)?;
    Ok(task)
}

#[allow(clippy::needless_pass_by_value)] // for `map_err`
fn not_a_manifest(error: serde_json::Error) -> ParseError {
    ParseError(error.to_string())
}

/// For fields that may be left out but are not `null`: with `#[serde(default)]`.
fn present<'de, T: Deserialize<'de>, D: serde::Deserializer<'de>>(reader: D) -> Result<Option<T>, D::Error> {
    T::deserialize(reader).map(Some)
}

/// For fields that may be `null` but not left out: serde gives only fields without a reader of their own `None`.
fn nullable<'de, T: Deserialize<'de>, D: serde::Deserializer<'de>>(reader: D) -> Result<Option<T>, D::Error> {
    Option::deserialize(reader)
}

fn at_least(field: &str, value: u32, least: u32) -> Result<(), ParseError> {
    if value >= least {
        return Ok(());
    }
    Err(ParseError(format!("{field} is {value}, it must be at least {least}")))
}
