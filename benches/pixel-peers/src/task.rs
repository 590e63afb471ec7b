//! What is to be done, as Python writes it, and who does it.

use serde::Deserialize;
use thiserror::Error;

use crate::{copy, libyuv, nearside, rust_chain};

/// Why a contender cannot run.
#[derive(Debug, Error)]
pub enum Error {
    /// The task is not what was expected.
    #[error("the task's JSON: {0}")]
    Json(#[from] serde_json::Error),
    /// The contender does not do this.
    #[error("{by} has no {what} \"{value}\"")]
    Unsupported {
        /// Who.
        by: &'static str,
        /// The field of the task.
        what: &'static str,
        /// Its value.
        value: String,
    },
    /// The contender is not on this machine.
    #[error("{0}")]
    Absent(String),
    /// The contender refused the frame.
    #[error("{0}")]
    Refused(String),
    /// The buffers do not fit.
    #[error("the {what} holds {has} bytes, but {needs} are needed")]
    WrongLength {
        /// `frame` or `output`.
        what: &'static str,
        /// What it holds.
        has: usize,
        /// What it must hold.
        needs: usize,
    },
}

/// A result of this crate.
pub type Result<T> = std::result::Result<T, Error>;

/// A contender, ready to run again and again.
pub trait Contender: Send {
    /// Bytes of what comes out.
    fn output_bytes(&self) -> usize;

    /// Turns a frame into what the task asks for.
    ///
    /// # Errors
    /// Any [`Error`].
    fn run(&mut self, frame: &[u8], out: &mut [u8]) -> Result<()>;
}

/// Who is to do what.
#[derive(Clone, Debug, Deserialize)]
#[serde(tag = "by", rename_all = "snake_case", deny_unknown_fields)]
pub enum Task {
    /// nearside-vision: a frame to a tensor.
    Nearside {
        /// The frame.
        frame: FrameJson,
        /// The tensor.
        spec: SpecJson,
    },
    /// nearside-vision: an image file to a tensor.
    NearsidePhoto {
        /// The tensor.
        spec: SpecJson,
    },
    /// `yuv`, `fast_image_resize` and a loop that normalises.
    RustChain {
        /// The frame, NV12.
        frame: FrameJson,
        /// The tensor: NCHW, f32, stretched.
        spec: SpecJson,
        /// Which way of chaining them.
        order: rust_chain::Order,
    },
    /// libyuv: NV12 or I420 to RGBA at full size.
    Libyuv {
        /// The frame.
        frame: FrameJson,
        /// Whether chroma is interpolated.
        interpolate: bool,
    },
    /// A copy of the frame.
    Copy {
        /// Bytes of the frame.
        bytes: usize,
    },
}

impl Task {
    /// Makes the contender.
    ///
    /// # Errors
    /// Any [`Error`].
    pub fn contender(self) -> Result<Box<dyn Contender>> {
        Ok(match self {
            Self::Nearside { frame, spec } => Box::new(nearside::OfFrame::new(frame, &spec)?),
            Self::NearsidePhoto { spec } => Box::new(nearside::OfPhoto::new(&spec)?),
            Self::RustChain { frame, spec, order } => Box::new(rust_chain::Chain::new(&frame, &spec, order)?),
            Self::Libyuv { frame, interpolate } => Box::new(libyuv::ToRgba::new(&frame, interpolate)?),
            Self::Copy { bytes } => Box::new(copy::Copy { bytes }),
        })
    }
}

/// A frame in one buffer.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct FrameJson {
    /// `nv12`, `i420`, ... as [`nearside_vision::BufferLayout`] reads it.
    pub layout: String,
    /// Width in pixels.
    pub width: u32,
    /// Height in pixels.
    pub height: u32,
    /// Of the first plane, in bytes.
    #[serde(default)]
    pub row_stride: Option<usize>,
    /// x, y, width, height.
    #[serde(default)]
    pub crop: Option<[u32; 4]>,
    /// Degrees clockwise.
    #[serde(default)]
    pub rotation: i64,
    /// Left to right, after the rotation.
    #[serde(default)]
    pub mirror: bool,
    /// `bt601`, `bt709` or `bt2020`.
    #[serde(default = "bt601")]
    pub matrix: String,
    /// `limited` or `full`.
    #[serde(default = "limited")]
    pub range: String,
    /// `center` or `left`.
    #[serde(default = "center")]
    pub siting: String,
}

fn bt601() -> String {
    "bt601".to_owned()
}

fn limited() -> String {
    "limited".to_owned()
}

fn center() -> String {
    "center".to_owned()
}

/// A tensor.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct SpecJson {
    /// Width in pixels.
    pub width: u32,
    /// Height in pixels.
    pub height: u32,
    /// `stretch`, `letterbox` or `center_crop`.
    #[serde(default = "stretch")]
    pub fit: String,
    /// Colour of the letterbox's bars.
    #[serde(default)]
    pub pad: [u8; 3],
    /// Share of the shorter side that a centre crop keeps.
    #[serde(default = "whole")]
    pub fraction: f32,
    /// `bilinear`, `antialias`, `bicubic` or `area`.
    pub filter: String,
    /// Subtracted from the values on 0..1.
    #[serde(default)]
    pub mean: [f32; 3],
    /// What the difference is divided by.
    #[serde(default = "ones")]
    pub std: [f32; 3],
    /// `nchw` or `nhwc`.
    #[serde(default = "nchw")]
    pub layout: String,
    /// `rgb`, `bgr`, `rgba` or `bgra`.
    #[serde(default = "rgb")]
    pub channels: String,
    /// `f32` or `u8`.
    #[serde(default = "f32_name")]
    pub element: String,
    /// `scalar`, `sse41`, ... instead of the best that the processor has.
    #[serde(default)]
    pub instructions: Option<String>,
}

fn stretch() -> String {
    "stretch".to_owned()
}

fn whole() -> f32 {
    1.0
}

fn ones() -> [f32; 3] {
    [1.0; 3]
}

fn nchw() -> String {
    "nchw".to_owned()
}

fn rgb() -> String {
    "rgb".to_owned()
}

fn f32_name() -> String {
    "f32".to_owned()
}

/// The output as the elements it is made of.
pub(crate) fn elements<T>(out: &mut [u8], len: usize) -> Result<&mut [T]>
where
    T: Plain,
{
    let (has, needs) = (out.len(), len * size_of::<T>());
    // SAFETY: any bytes are a value of a plain type.
    let (before, elements, after) = unsafe { out.align_to_mut::<T>() };
    if before.is_empty() && after.is_empty() && elements.len() == len {
        return Ok(elements);
    }
    Err(Error::WrongLength { what: "output (aligned)", has, needs })
}

/// Types of which any bytes are a value, and which are bytes without padding.
pub(crate) trait Plain {}
impl Plain for u8 {}
impl Plain for f32 {}

/// The first `needs` bytes.
pub(crate) fn at_least(what: &'static str, bytes: &[u8], needs: usize) -> Result<()> {
    let has = bytes.len();
    if has >= needs { Ok(()) } else { Err(Error::WrongLength { what, has, needs }) }
}
