//! `manifest.json`, schema version 1. The same in JSON Schema: `docs/manifest.schema.json`.

use serde::{Deserialize, Serialize};
use std::collections::BTreeSet;

/// The schema version that this reader knows.
pub const SCHEMA_VERSION: u32 = 1;

/// A model package's manifest.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Manifest {
    /// [`SCHEMA_VERSION`].
    pub schema_version: u32,
    /// The model's name.
    pub name: String,
    /// What it does.
    pub task: Task,
    /// SPDX id of the licence of the weights.
    pub licence: String,
    /// Where weights, architecture and labels come from.
    pub source: String,
    /// One label a line, line i for class i.
    pub labels: FileEntry,
    /// How pixels become the input.
    pub image: ImageEntry,
    /// What the output means.
    pub output: Output,
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
    /// Another schema version, text that is not such a manifest, no variants or two of a name, an impossible image.
    pub fn parse(text: &str) -> Result<Self, ParseError> {
        check_version(text)?;
        let manifest: Self = serde_json::from_str(text).map_err(not_a_manifest)?;
        manifest.check_variants()?;
        manifest.image.spec()?;
        Ok(manifest)
    }

    fn check_variants(&self) -> Result<(), ParseError> {
        if self.variants.is_empty() {
            return Err(ParseError("it has no variants".into()));
        }
        let mut names = BTreeSet::new();
        match self.variants.iter().find(|variant| !names.insert(variant.name.as_str())) {
            Some(variant) => Err(ParseError(format!("the variant `{}` is there twice", variant.name))),
            None => Ok(()),
        }
    }
}

/// Reads the version by itself first: a newer schema should be called that, not a list of unknown fields.
fn check_version(text: &str) -> Result<(), ParseError> {
    #[derive(Deserialize)]
    struct Version {
        schema_version: u32,
    }
    let Version { schema_version } = serde_json::from_str(text).map_err(not_a_manifest)?;
    if schema_version == SCHEMA_VERSION {
        return Ok(());
    }
    Err(ParseError(format!(
        "schema version {schema_version} is not known, this build reads {SCHEMA_VERSION}"
    )))
}

#[allow(clippy::needless_pass_by_value)] // for `map_err`
fn not_a_manifest(error: serde_json::Error) -> ParseError {
    ParseError(error.to_string())
}

/// What a model does.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Task {
    /// An image to labels with scores.
    Classify,
}

/// A file of the package.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct FileEntry {
    /// Relative to the package, without `..`.
    pub path: String,
    /// Its length.
    pub bytes: u64,
    /// Its hash, 64 hex digits.
    pub sha256: String,
}

/// How pixels become the input tensor.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ImageEntry {
    /// Width of the input, pixels.
    pub width: u32,
    /// Height of the input, pixels.
    pub height: u32,
    /// How the picture is fitted into it.
    pub fit: Fit,
    /// `center_crop` only: the share of the shorter side that is kept, 0 < share <= 1.
    #[serde(default = "one", skip_serializing_if = "is_one")]
    pub crop_fraction: f32,
    /// `letterbox` only: the colour of the bars, RGB.
    #[serde(default, skip_serializing_if = "is_black")]
    pub pad: [u8; 3],
    /// How it is resampled.
    pub filter: Filter,
    /// Subtracted from values scaled to 0..=1, RGB.
    pub mean: [f32; 3],
    /// Divides what is left, RGB.
    pub std: [f32; 3],
    /// The order of the dimensions.
    pub layout: Layout,
    /// The order of the colours.
    #[serde(default, skip_serializing_if = "is_rgb")]
    pub channels: Channels,
}

/// How a picture is fitted into the input.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Fit {
    /// Stretched, losing its aspect ratio.
    Stretch,
    /// Whole, with bars.
    Letterbox,
    /// The largest centred part with the input's aspect ratio, times `crop_fraction`.
    CenterCrop,
}

/// How a picture is resampled.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Filter {
    /// Pillow's `NEAREST`.
    Nearest,
    /// OpenCV's `INTER_LINEAR`.
    Bilinear,
    /// Pillow's `BILINEAR`: the support grows with the scale.
    BilinearAntialias,
    /// Pillow's `BICUBIC`: the support grows with the scale.
    BicubicAntialias,
    /// OpenCV's `INTER_AREA`.
    Area,
}

/// The order of a tensor's dimensions.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Layout {
    /// Planes of colours.
    Nchw,
    /// Interleaved colours.
    Nhwc,
}

/// The order of a tensor's colours. Mean, std and pad are RGB with either.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Channels {
    /// Red first.
    #[default]
    Rgb,
    /// Blue first.
    Bgr,
}

/// What a classifier's output means.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Output {
    /// Scores before softmax, which the host applies.
    Logits,
    /// Scores that sum to 1.
    Probabilities,
}

/// One exported program of the model.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Variant {
    /// Its name, such as `xnnpack-int8`.
    pub name: String,
    /// The `.pte` file.
    pub program: FileEntry,
    /// `.ptd` files that it needs.
    #[serde(default)]
    pub external_data: Vec<FileEntry>,
    /// The method to run.
    pub method: String,
    /// The ExecuTorch that exported it.
    pub executorch: String,
    /// The torch that exported it.
    pub torch: String,
    /// The torchao that quantised it.
    pub torchao: String,
    /// The quantisation scheme, `none` for fp32.
    pub quantisation: String,
    /// Ids of the delegates that it needs.
    pub delegates: Vec<String>,
    /// Operators left on portable kernels.
    pub operators: Vec<String>,
    /// Operator calls inside delegates / all calls, at export.
    pub coverage: f64,
    /// Sum of the method's planned arenas.
    pub planned_bytes: u64,
    /// Measured against eager fp32.
    pub quality: Quality,
    /// The command that made it.
    pub export_command: String,
}

/// How close a variant is to eager fp32, over real images.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Quality {
    /// Images compared.
    pub images: u32,
    /// Share of them with the same best label.
    pub top1_agreement: f64,
    /// Root mean square error of the logits.
    pub logit_rmse: f64,
    /// Signal to quantisation noise of the logits, dB.
    pub logit_sqnr_db: f64,
    /// What had to be reached.
    pub gate: Gate,
}

/// The least quality with which an export succeeds.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Gate {
    /// Share of images with the same best label.
    pub top1_agreement: f64,
}

fn one() -> f32 {
    1.0
}

#[allow(clippy::trivially_copy_pass_by_ref)] // serde's signature
fn is_one(fraction: &f32) -> bool {
    *fraction == 1.0
}

fn is_black(pad: &[u8; 3]) -> bool {
    *pad == [0; 3]
}

#[allow(clippy::trivially_copy_pass_by_ref)]
fn is_rgb(channels: &Channels) -> bool {
    *channels == Channels::Rgb
}
