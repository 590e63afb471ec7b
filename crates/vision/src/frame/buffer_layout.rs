//! The usual ways of packing a whole frame into one buffer.

use std::str::FromStr;

use super::{Frame, PixelFormat, Plane};
use crate::{Error, Result};

/// How a whole frame is packed into one buffer, as raw video files and many decoders do it.
///
/// Bytes are named in the order in which they lie in memory, as FFmpeg's `pix_fmt` and Apple's pixel formats do.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum BufferLayout {
    /// Y, then U, then V: FFmpeg's `yuv420p`, `kCVPixelFormatType_420YpCbCr8Planar`.
    I420,
    /// Y, then V, then U. In Android's `ImageFormat.YV12` the rows of V and U are padded to whole 16 bytes, which is
    /// not the half of every row stride: give [`Frame::yuv420`] its planes, unless the width is a multiple of 32.
    Yv12,
    /// Y, then U and V interleaved: `kCVPixelFormatType_420YpCbCr8BiPlanarVideoRange` and `…FullRange`.
    Nv12,
    /// Y, then V and U interleaved: `ImageFormat.NV21`.
    Nv21,
    /// As NV12 with 16 bits a sample: see [`PixelFormat::P010`].
    P010,
    /// Y0 U Y1 V.
    Yuyv,
    /// Blue, green, red, alpha.
    Bgra,
    /// Red, green, blue, alpha.
    Rgba,
    /// Alpha, red, green, blue.
    Argb,
    /// Red, green, blue.
    Rgb,
    /// Blue, green, red.
    Bgr,
    /// One grey byte a pixel.
    Gray8,
    /// Red, green and blue in the high 5, middle 6 and low 5 bits of 16.
    Rgb565,
}

/// Offsets and strides of the planes in one buffer.
struct Planes {
    y_row_stride: usize,
    chroma_row_stride: usize,
    pixel_stride: usize,
    u: usize,
    v: usize,
    total: usize,
}

impl BufferLayout {
    /// All of them.
    pub const ALL: [Self; 13] = [
        Self::I420,
        Self::Yv12,
        Self::Nv12,
        Self::Nv21,
        Self::P010,
        Self::Yuyv,
        Self::Bgra,
        Self::Rgba,
        Self::Argb,
        Self::Rgb,
        Self::Bgr,
        Self::Gray8,
        Self::Rgb565,
    ];

    /// The name by which [`FromStr`] knows it.
    pub fn name(self) -> &'static str {
        match self {
            Self::I420 => "i420",
            Self::Yv12 => "yv12",
            Self::Nv12 => "nv12",
            Self::Nv21 => "nv21",
            Self::P010 => "p010",
            Self::Yuyv => "yuyv",
            Self::Bgra => "bgra",
            Self::Rgba => "rgba",
            Self::Argb => "argb",
            Self::Rgb => "rgb",
            Self::Bgr => "bgr",
            Self::Gray8 => "gray8",
            Self::Rgb565 => "rgb565",
        }
    }

    /// The format of its frames.
    pub fn format(self) -> PixelFormat {
        match self {
            Self::I420 | Self::Yv12 | Self::Nv12 | Self::Nv21 => PixelFormat::Yuv420,
            Self::P010 => PixelFormat::P010,
            Self::Yuyv => PixelFormat::Yuyv,
            Self::Bgra => PixelFormat::Bgra,
            Self::Rgba => PixelFormat::Rgba,
            Self::Argb => PixelFormat::Argb,
            Self::Rgb => PixelFormat::Rgb,
            Self::Bgr => PixelFormat::Bgr,
            Self::Gray8 => PixelFormat::Gray8,
            Self::Rgb565 => PixelFormat::Rgb565,
        }
    }

    /// Bytes of a whole frame with all its padding: the distance from one frame to the next in a raw video file.
    ///
    /// `row_stride` is that of the first plane in bytes, by default a row without padding. `pixel_stride` is that of
    /// the chroma planes (I420 and YV12: 1, NV12 and NV21: 2, P010: 4) or of the packed plane.
    pub fn frame_bytes(
        self,
        width: u32,
        height: u32,
        row_stride: Option<usize>,
        pixel_stride: Option<usize>,
    ) -> usize {
        self.planes(width, height, row_stride, pixel_stride).total
    }

    /// The frame at the start of `bytes`, upright, BT.601 limited range. Strides are as in [`Self::frame_bytes`]; the
    /// padding of the last row may be missing.
    ///
    /// # Errors
    /// As [`Frame::validate`].
    pub fn frame<'a>(
        self,
        bytes: &'a [u8],
        width: u32,
        height: u32,
        row_stride: Option<usize>,
        pixel_stride: Option<usize>,
    ) -> Result<Frame<'a>> {
        let at = self.planes(width, height, row_stride, pixel_stride);
        let plane = |start: usize, end: usize, row_stride, pixel_stride| {
            let start = start.min(bytes.len());
            Plane { bytes: &bytes[start..end.clamp(start, bytes.len())], row_stride, pixel_stride }
        };
        let planes = if self.has_chroma_planes() {
            // Interleaved planes both reach to the end; of planar ones the first ends where the next begins.
            let end = |start: usize, other: usize| {
                if matches!(self, Self::I420 | Self::Yv12) && start < other { other } else { at.total }
            };
            [
                plane(0, at.u.min(at.v), at.y_row_stride, self.sample_bytes()),
                plane(at.u, end(at.u, at.v), at.chroma_row_stride, at.pixel_stride),
                plane(at.v, end(at.v, at.u), at.chroma_row_stride, at.pixel_stride),
            ]
        } else {
            [plane(0, at.total, at.y_row_stride, at.pixel_stride), Plane::EMPTY, Plane::EMPTY]
        };
        Frame::new(self.format(), width, height, planes)
    }

    fn has_chroma_planes(self) -> bool {
        matches!(self.format(), PixelFormat::Yuv420 | PixelFormat::P010)
    }

    fn sample_bytes(self) -> usize {
        self.format().sample().bytes()
    }

    /// Bytes from one pixel of the packed plane, or one sample of the chroma planes, to the next.
    fn default_pixel_stride(self) -> usize {
        match self {
            Self::I420 | Self::Yv12 | Self::Gray8 => 1,
            Self::Nv12 | Self::Nv21 | Self::Yuyv | Self::Rgb565 => 2,
            Self::Rgb | Self::Bgr => 3,
            Self::Bgra | Self::Rgba | Self::Argb | Self::P010 => 4,
        }
    }

    fn planes(
        self,
        width: u32,
        height: u32,
        row_stride: Option<usize>,
        pixel_stride: Option<usize>,
    ) -> Planes {
        let (columns, rows) = (width as usize, height as usize);
        let pixel_stride = pixel_stride.unwrap_or(self.default_pixel_stride());
        if !self.has_chroma_planes() {
            let columns = if self == Self::Yuyv { columns.div_ceil(2).saturating_mul(2) } else { columns };
            let y_row_stride = row_stride.unwrap_or(columns.saturating_mul(pixel_stride));
            let total = y_row_stride.saturating_mul(rows);
            return Planes { y_row_stride, chroma_row_stride: 0, pixel_stride, u: 0, v: 0, total };
        }
        let sample = self.sample_bytes();
        let y_row_stride = row_stride.unwrap_or(columns.saturating_mul(sample));
        let chroma_row_stride = y_row_stride.div_ceil(2 * sample).saturating_mul(pixel_stride);
        let luma = y_row_stride.saturating_mul(rows);
        let chroma = chroma_row_stride.saturating_mul(rows.div_ceil(2));
        let planar = matches!(self, Self::I420 | Self::Yv12);
        let second = luma.saturating_add(if planar { chroma } else { sample });
        let total = luma.saturating_add(if planar { chroma.saturating_mul(2) } else { chroma });
        let v_first = matches!(self, Self::Yv12 | Self::Nv21);
        let (u, v) = if v_first { (second, luma) } else { (luma, second) };
        Planes { y_row_stride, chroma_row_stride, pixel_stride, u, v, total }
    }
}

impl FromStr for BufferLayout {
    type Err = Error;

    /// Reads `i420`, `yv12`, `nv12`, `nv21`, `p010`, `yuyv`, `bgra`, `rgba`, `argb`, `rgb`, `bgr`, `gray8` or `rgb565`.
    fn from_str(name: &str) -> Result<Self> {
        Self::ALL.into_iter().find(|layout| layout.name() == name).ok_or_else(|| Error::UnknownName {
            what: "frame layout",
            value: name.to_owned(),
            expected: "i420, yv12, nv12, nv21, p010, yuyv, bgra, rgba, argb, rgb, bgr, gray8 or rgb565",
        })
    }
}
