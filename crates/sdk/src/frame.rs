//! Camera frames: everything about one but its pixels.
//!
//! Numbers are signed, as they are in Kotlin; negative ones are refused here.

use nearside_pipeline::vision;

use crate::{NearsideError, Result};

/// How a picture is to be read: size, crop, orientation, colour.
#[derive(Clone, Copy, Debug, PartialEq, uniffi::Record)]
pub struct FrameMetadata {
    /// Width in pixels, before crop and rotation.
    pub width: i32,
    /// Height in pixels, before crop and rotation.
    pub height: i32,
    /// The part to use, in the frame's own coordinates; all of it if unset.
    pub crop: Option<Rect>,
    /// The clockwise rotation that makes the picture upright.
    pub rotation: Rotation,
    /// Whether to mirror left to right, after the rotation.
    pub mirror: bool,
    /// YUV to RGB matrix; RGB formats ignore it.
    pub matrix: YuvMatrix,
    /// Range of the YUV values; RGB formats ignore it.
    pub range: YuvRange,
    /// When the picture was taken, in nanoseconds on a clock of the caller's choice. Comes back with the result.
    pub timestamp_ns: i64,
}

/// Where the samples of a plane lie.
#[derive(Clone, Copy, Debug, PartialEq, Eq, uniffi::Record)]
pub struct PlaneLayout {
    /// Bytes from one row to the next.
    pub row_stride: i32,
    /// Bytes from one sample of a row to the next.
    pub pixel_stride: i32,
}

/// Where the samples of a `YUV_420_888` frame lie. U and V may interleave in one allocation.
#[derive(Clone, Copy, Debug, PartialEq, Eq, uniffi::Record)]
pub struct YuvLayout {
    /// Luma.
    pub y: PlaneLayout,
    /// Blue difference, of half the width and height, rounded up.
    pub u: PlaneLayout,
    /// Red difference, of half the width and height, rounded up.
    pub v: PlaneLayout,
}

/// The layout of a frame with one plane.
#[derive(Clone, Copy, Debug, PartialEq, Eq, uniffi::Enum)]
pub enum PackedFormat {
    /// YUV 4:2:2 as Y0 U Y1 V, two bytes a pixel.
    Yuyv,
    /// Blue, green, red, alpha; alpha is ignored.
    Bgra,
    /// Red, green, blue, alpha; alpha is ignored.
    Rgba,
    /// Red, green, blue.
    Rgb,
}

/// A rectangle in pixels.
#[derive(Clone, Copy, Debug, PartialEq, Eq, uniffi::Record)]
pub struct Rect {
    /// Left edge.
    pub x: i32,
    /// Top edge.
    pub y: i32,
    /// Width.
    pub width: i32,
    /// Height.
    pub height: i32,
}

/// The clockwise rotation that makes a picture upright, as Android's `ImageProxy.rotationDegrees`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, uniffi::Enum)]
pub enum Rotation {
    /// Upright as it is.
    R0,
    /// A quarter turn clockwise.
    R90,
    /// Half a turn.
    R180,
    /// A quarter turn anticlockwise.
    R270,
}

/// The YUV to RGB matrix.
#[derive(Clone, Copy, Debug, PartialEq, Eq, uniffi::Enum)]
pub enum YuvMatrix {
    /// ITU-R BT.601: JPEG, and most phone cameras.
    Bt601,
    /// ITU-R BT.709: HD video.
    Bt709,
}

/// The range of YUV values.
#[derive(Clone, Copy, Debug, PartialEq, Eq, uniffi::Enum)]
pub enum YuvRange {
    /// Y from 16 to 235, U and V from 16 to 240.
    Limited,
    /// All from 0 to 255.
    Full,
}

/// A plane's bytes with their layout.
pub(crate) fn plane<'a>(name: &str, bytes: &'a [u8], layout: PlaneLayout) -> Result<vision::Plane<'a>> {
    let stride = |what, value| unsigned(&format!("{what} stride of plane {name}"), value).map(|v| v as usize);
    Ok(vision::Plane {
        bytes,
        row_stride: stride("row", layout.row_stride)?,
        pixel_stride: stride("pixel", layout.pixel_stride)?,
    })
}

/// The frame of these planes.
pub(crate) fn frame<'a>(
    metadata: &FrameMetadata,
    format: vision::PixelFormat,
    planes: [vision::Plane<'a>; 3],
) -> Result<vision::Frame<'a>> {
    Ok(vision::Frame {
        format,
        width: unsigned("frame's width", metadata.width)?,
        height: unsigned("frame's height", metadata.height)?,
        planes,
        crop: metadata.crop.map(vision::Rect::try_from).transpose()?,
        rotation: metadata.rotation.into(),
        mirror: metadata.mirror,
        matrix: metadata.matrix.into(),
        range: metadata.range.into(),
        timestamp_ns: metadata.timestamp_ns,
    })
}

fn unsigned(what: &str, value: i32) -> Result<u32> {
    u32::try_from(value).map_err(|_| NearsideError::InvalidInput {
        detail: format!("the {what} is {value}"),
        hint: "pass what the camera reports; sizes and strides are never negative".into(),
    })
}

impl TryFrom<Rect> for vision::Rect {
    type Error = NearsideError;

    fn try_from(rect: Rect) -> Result<Self> {
        Ok(Self {
            x: unsigned("crop's x", rect.x)?,
            y: unsigned("crop's y", rect.y)?,
            width: unsigned("crop's width", rect.width)?,
            height: unsigned("crop's height", rect.height)?,
        })
    }
}

impl From<PackedFormat> for vision::PixelFormat {
    fn from(format: PackedFormat) -> Self {
        match format {
            PackedFormat::Yuyv => Self::Yuyv,
            PackedFormat::Bgra => Self::Bgra,
            PackedFormat::Rgba => Self::Rgba,
            PackedFormat::Rgb => Self::Rgb,
        }
    }
}

impl From<Rotation> for vision::Rotation {
    fn from(rotation: Rotation) -> Self {
        match rotation {
            Rotation::R0 => Self::R0,
            Rotation::R90 => Self::R90,
            Rotation::R180 => Self::R180,
            Rotation::R270 => Self::R270,
        }
    }
}

impl From<YuvMatrix> for vision::Matrix {
    fn from(matrix: YuvMatrix) -> Self {
        match matrix {
            YuvMatrix::Bt601 => Self::Bt601,
            YuvMatrix::Bt709 => Self::Bt709,
        }
    }
}

impl From<YuvRange> for vision::Range {
    fn from(range: YuvRange) -> Self {
        match range {
            YuvRange::Limited => Self::Limited,
            YuvRange::Full => Self::Full,
        }
    }
}
