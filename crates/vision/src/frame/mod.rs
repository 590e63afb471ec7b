//! The frame: a borrowed view of one picture as a camera gives it.

mod buffer_layout;
mod plane;
mod sources;

pub use buffer_layout::BufferLayout;
pub use plane::Plane;
pub(crate) use sources::{Source, Sources};

use crate::{Error, Matrix, Range, Rect, Result, Rotation};
use plane::PlaneShape;

/// How the samples of a frame lie in its planes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum PixelFormat {
    /// YUV 4:2:0 in three planes Y, U, V of 8 bits with any row and pixel strides: Android's `YUV_420_888`, I420,
    /// NV12 and NV21. U and V have half the width and height of Y, rounded up, and may interleave in one allocation.
    Yuv420,
    /// YUV 4:2:2 packed as Y0 U Y1 V (YUY2). A row of odd width ends with a whole group of four bytes.
    Yuyv,
    /// Blue, green, red, alpha. Alpha is ignored.
    Bgra,
    /// Red, green, blue, alpha. Alpha is ignored.
    Rgba,
    /// Red, green, blue.
    Rgb,
}

impl std::fmt::Display for PixelFormat {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(match self {
            Self::Yuv420 => "YUV 4:2:0",
            Self::Yuyv => "YUYV",
            Self::Bgra => "BGRA",
            Self::Rgba => "RGBA",
            Self::Rgb => "RGB",
        })
    }
}

/// A borrowed view of one picture.
///
/// The fields are public so that a binding can fill them in as they come; [`Frame::validate`] says whether they
/// agree, and everything that reads a frame calls it first.
#[derive(Clone, Copy, Debug)]
pub struct Frame<'a> {
    /// How the samples lie in the planes.
    pub format: PixelFormat,
    /// Width in pixels, before crop and rotation.
    pub width: u32,
    /// Height in pixels, before crop and rotation.
    pub height: u32,
    /// Y, U, V for [`PixelFormat::Yuv420`]; else one plane and two empty ones.
    pub planes: [Plane<'a>; 3],
    /// The part of the frame to use, in the frame's own coordinates, before rotation. Pixels outside are not seen.
    pub crop: Option<Rect>,
    /// The rotation that makes the picture upright.
    pub rotation: Rotation,
    /// Whether to mirror left to right, after the rotation.
    pub mirror: bool,
    /// YUV to RGB matrix. Not used by RGB formats.
    pub matrix: Matrix,
    /// Range of the YUV values. Not used by RGB formats.
    pub range: Range,
    /// When the picture was taken, in nanoseconds on the clock of whoever made the frame.
    pub timestamp_ns: i64,
}

impl<'a> Frame<'a> {
    /// YUV 4:2:0 in three planes, upright, BT.601 limited range.
    ///
    /// # Errors
    /// As [`Frame::validate`].
    pub fn yuv420(planes: [Plane<'a>; 3], width: u32, height: u32) -> Result<Self> {
        Self::new(PixelFormat::Yuv420, width, height, planes)
    }

    /// I420: the Y plane, then U, then V, in one buffer. `row_stride` is that of Y, by default the width; U and V have
    /// half of it, rounded up.
    ///
    /// # Errors
    /// As [`Frame::validate`].
    pub fn i420(bytes: &'a [u8], width: u32, height: u32, row_stride: Option<usize>) -> Result<Self> {
        BufferLayout::I420.frame(bytes, width, height, row_stride, None)
    }

    /// NV12: the Y plane, then U and V interleaved, in one buffer. `row_stride` is by default the width; the chroma
    /// rows have the same, rounded up to even.
    ///
    /// # Errors
    /// As [`Frame::validate`].
    pub fn nv12(bytes: &'a [u8], width: u32, height: u32, row_stride: Option<usize>) -> Result<Self> {
        BufferLayout::Nv12.frame(bytes, width, height, row_stride, None)
    }

    /// NV21: as NV12 with V before U.
    ///
    /// # Errors
    /// As [`Frame::validate`].
    pub fn nv21(bytes: &'a [u8], width: u32, height: u32, row_stride: Option<usize>) -> Result<Self> {
        BufferLayout::Nv21.frame(bytes, width, height, row_stride, None)
    }

    /// YUYV in one buffer. `row_stride` is by default that of rows without padding.
    ///
    /// # Errors
    /// As [`Frame::validate`].
    pub fn yuyv(bytes: &'a [u8], width: u32, height: u32, row_stride: Option<usize>) -> Result<Self> {
        BufferLayout::Yuyv.frame(bytes, width, height, row_stride, None)
    }

    /// BGRA in one buffer. `row_stride` is by default that of rows without padding.
    ///
    /// # Errors
    /// As [`Frame::validate`].
    pub fn bgra(bytes: &'a [u8], width: u32, height: u32, row_stride: Option<usize>) -> Result<Self> {
        BufferLayout::Bgra.frame(bytes, width, height, row_stride, None)
    }

    /// RGBA in one buffer. `row_stride` is by default that of rows without padding.
    ///
    /// # Errors
    /// As [`Frame::validate`].
    pub fn rgba(bytes: &'a [u8], width: u32, height: u32, row_stride: Option<usize>) -> Result<Self> {
        BufferLayout::Rgba.frame(bytes, width, height, row_stride, None)
    }

    /// RGB in one buffer. `row_stride` is by default that of rows without padding.
    ///
    /// # Errors
    /// As [`Frame::validate`].
    pub fn rgb(bytes: &'a [u8], width: u32, height: u32, row_stride: Option<usize>) -> Result<Self> {
        BufferLayout::Rgb.frame(bytes, width, height, row_stride, None)
    }

    fn new(format: PixelFormat, width: u32, height: u32, planes: [Plane<'a>; 3]) -> Result<Self> {
        let frame = Self { format, width, height, planes, ..Self::empty() };
        frame.validate()?;
        Ok(frame)
    }

    /// A frame without pixels, which [`Frame::validate`] refuses.
    pub(crate) fn empty() -> Self {
        Self {
            format: PixelFormat::Rgb,
            width: 0,
            height: 0,
            planes: [Plane::EMPTY; 3],
            crop: None,
            rotation: Rotation::R0,
            mirror: false,
            matrix: Matrix::default(),
            range: Range::default(),
            timestamp_ns: 0,
        }
    }

    /// Checks that sizes, strides, planes and crop agree, so that no sample lies outside its plane.
    ///
    /// What real devices give is accepted: a last row that ends with its last sample instead of its stride, and an
    /// interleaved chroma plane (pixel stride 2 or more) whose very last sample is missing, which then takes the
    /// value of its neighbour.
    ///
    /// # Errors
    /// [`Error::EmptyFrame`], [`Error::WrongPixelStride`], [`Error::RowStrideTooSmall`], [`Error::PlaneTooShort`] and
    /// [`Error::CropOutsideFrame`], which name the plane, what it has and what it needs.
    pub fn validate(&self) -> Result<()> {
        let Self { width, height, .. } = *self;
        if width == 0 || height == 0 {
            return Err(Error::EmptyFrame { width, height });
        }
        for (shape, plane) in self.plane_shapes().iter().zip(&self.planes) {
            shape.check(self.format, plane, width, height)?;
        }
        match self.crop {
            Some(crop) if !crop.lies_inside(width, height) => {
                Err(Error::CropOutsideFrame { crop, width, height })
            }
            _ => Ok(()),
        }
    }

    /// The crop, or the whole frame.
    pub(crate) fn region(&self) -> Rect {
        self.crop.unwrap_or(Rect { x: 0, y: 0, width: self.width, height: self.height })
    }

    /// The shapes of the planes in use.
    pub(crate) fn plane_shapes(&self) -> &'static [PlaneShape] {
        PlaneShape::of(self.format)
    }

    /// The bytes of plane `index` from its first sample to its last. The frame must be valid.
    pub(crate) fn used_bytes(&self, index: usize) -> &'a [u8] {
        let (Some(shape), Some(plane)) = (self.plane_shapes().get(index), self.planes.get(index)) else {
            return &[];
        };
        let needs = shape.needed_bytes(plane, self.width, self.height);
        plane.bytes.get(..needs).unwrap_or(plane.bytes)
    }
}
