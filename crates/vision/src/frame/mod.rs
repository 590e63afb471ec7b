//! The frame: a borrowed view of one picture as a camera gives it.

mod buffer_layout;
mod pixel_format;
mod plane;
mod sample;
mod sources;

pub use buffer_layout::BufferLayout;
pub use pixel_format::PixelFormat;
pub use plane::Plane;
pub(crate) use sample::{Sample, p010, rgb565};
pub(crate) use sources::{Pixel, Source, Sources};

use crate::{ChromaSiting, Error, Matrix, Range, Rect, Result, Rotation};
use plane::PlaneShape;

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
    /// Y, U, V for [`PixelFormat::Yuv420`] and [`PixelFormat::P010`]; else one plane and two empty ones.
    pub planes: [Plane<'a>; 3],
    /// The part of the frame to use, in the frame's own coordinates, before rotation. Outside, only the chroma that its edge shares is seen.
    pub crop: Option<Rect>,
    /// The rotation that makes the picture upright.
    pub rotation: Rotation,
    /// Whether to mirror left to right, after the rotation.
    pub mirror: bool,
    /// YUV to RGB matrix. Not used by RGB formats.
    pub matrix: Matrix,
    /// Range of the YUV values. Not used by RGB formats.
    pub range: Range,
    /// Where the U and V samples sit. Not used by RGB formats.
    pub chroma_siting: ChromaSiting,
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

    /// YV12: as I420 with V before U. For rows of V and U that are not half of those of Y, as in Android's
    /// `ImageFormat.YV12`, see [`Frame::yuv420`].
    ///
    /// # Errors
    /// As [`Frame::validate`].
    pub fn yv12(bytes: &'a [u8], width: u32, height: u32, row_stride: Option<usize>) -> Result<Self> {
        BufferLayout::Yv12.frame(bytes, width, height, row_stride, None)
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

    /// P010: as NV12 with two bytes a sample. `row_stride` is in bytes, by default twice the width.
    ///
    /// # Errors
    /// As [`Frame::validate`].
    pub fn p010(bytes: &'a [u8], width: u32, height: u32, row_stride: Option<usize>) -> Result<Self> {
        BufferLayout::P010.frame(bytes, width, height, row_stride, None)
    }

    /// P010 in three planes of 16-bit samples, upright, BT.601 limited range.
    ///
    /// # Errors
    /// As [`Frame::validate`].
    pub fn p010_planes(planes: [Plane<'a>; 3], width: u32, height: u32) -> Result<Self> {
        Self::new(PixelFormat::P010, width, height, planes)
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

    /// ARGB in one buffer. `row_stride` is by default that of rows without padding.
    ///
    /// # Errors
    /// As [`Frame::validate`].
    pub fn argb(bytes: &'a [u8], width: u32, height: u32, row_stride: Option<usize>) -> Result<Self> {
        BufferLayout::Argb.frame(bytes, width, height, row_stride, None)
    }

    /// RGB in one buffer. `row_stride` is by default that of rows without padding.
    ///
    /// # Errors
    /// As [`Frame::validate`].
    pub fn rgb(bytes: &'a [u8], width: u32, height: u32, row_stride: Option<usize>) -> Result<Self> {
        BufferLayout::Rgb.frame(bytes, width, height, row_stride, None)
    }

    /// BGR in one buffer. `row_stride` is by default that of rows without padding.
    ///
    /// # Errors
    /// As [`Frame::validate`].
    pub fn bgr(bytes: &'a [u8], width: u32, height: u32, row_stride: Option<usize>) -> Result<Self> {
        BufferLayout::Bgr.frame(bytes, width, height, row_stride, None)
    }

    /// Grey, one byte a pixel, in one buffer. `row_stride` is by default that of rows without padding.
    ///
    /// # Errors
    /// As [`Frame::validate`].
    pub fn gray8(bytes: &'a [u8], width: u32, height: u32, row_stride: Option<usize>) -> Result<Self> {
        BufferLayout::Gray8.frame(bytes, width, height, row_stride, None)
    }

    /// RGB565 in one buffer. `row_stride` is in bytes, by default that of rows without padding.
    ///
    /// # Errors
    /// As [`Frame::validate`].
    pub fn rgb565(bytes: &'a [u8], width: u32, height: u32, row_stride: Option<usize>) -> Result<Self> {
        BufferLayout::Rgb565.frame(bytes, width, height, row_stride, None)
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
            chroma_siting: ChromaSiting::default(),
            timestamp_ns: 0,
        }
    }

    /// Checks that sizes, strides, planes and crop agree, so that no sample lies outside its plane.
    ///
    /// What real devices give is accepted: a last row that ends with its last sample instead of its stride, and an
    /// interleaved chroma plane (pixel stride of two samples or more) whose very last sample is missing, or of P010
    /// one byte of it, which then takes the value of its neighbour. P010 and RGB565 may lie at odd addresses, with
    /// odd row strides.
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

    /// Width and height of the picture in pixels, cropped and upright.
    pub fn upright_size(&self) -> (u32, u32) {
        let Rect { width, height, .. } = self.region();
        if self.rotation.swaps_axes() { (height, width) } else { (width, height) }
    }

    /// The crop, or the whole frame.
    pub(crate) fn region(&self) -> Rect {
        self.crop.unwrap_or(Rect { x: 0, y: 0, width: self.width, height: self.height })
    }

    /// The shapes of the planes in use.
    pub(crate) fn plane_shapes(&self) -> &'static [PlaneShape] {
        PlaneShape::of(self.format)
    }

    /// The bytes of plane `index` from its first sample to its last, or, where the chroma plane beside it lacks its own
    /// last, to that. The frame must be valid.
    pub(crate) fn used_bytes(&self, index: usize) -> &'a [u8] {
        let (Some(shape), Some(plane)) = (self.plane_shapes().get(index), self.planes.get(index)) else {
            return &[];
        };
        let needs = shape.needed_bytes(plane, self.width, self.height);
        let lacks = index > 0 && {
            let other = &self.planes[3 - index];
            other.bytes.len() < shape.needed_bytes(other, self.width, self.height)
        };
        let beside = if lacks { self.format.sample().bytes() } else { 0 };
        plane.bytes.get(..needs.saturating_add(beside)).unwrap_or(plane.bytes)
    }
}
