//! The usual ways of packing a whole frame into one buffer.

use std::str::FromStr;

use super::{Frame, PixelFormat, Plane};
use crate::{Error, Result};

/// How a whole frame is packed into one buffer, as raw video files and many decoders do it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum BufferLayout {
    /// Y, then U, then V.
    I420,
    /// Y, then U and V interleaved.
    Nv12,
    /// Y, then V and U interleaved.
    Nv21,
    /// Y0 U Y1 V.
    Yuyv,
    /// Blue, green, red, alpha.
    Bgra,
    /// Red, green, blue, alpha.
    Rgba,
    /// Red, green, blue.
    Rgb,
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
    /// The format of its frames.
    pub fn format(self) -> PixelFormat {
        match self {
            Self::I420 | Self::Nv12 | Self::Nv21 => PixelFormat::Yuv420,
            Self::Yuyv => PixelFormat::Yuyv,
            Self::Bgra => PixelFormat::Bgra,
            Self::Rgba => PixelFormat::Rgba,
            Self::Rgb => PixelFormat::Rgb,
        }
    }

    /// Bytes of a whole frame with all its padding: the distance from one frame to the next in a raw video file.
    ///
    /// `row_stride` is that of the first plane in bytes, by default a row without padding. `pixel_stride` is that of
    /// the chroma planes (I420: 1, NV12 and NV21: 2) or of the packed plane.
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
        let planes = match self {
            Self::I420 | Self::Nv12 | Self::Nv21 => {
                // Interleaved planes both reach to the end; planar ones end where the next begins.
                let u_end = if self == Self::I420 { at.v } else { at.total };
                [
                    plane(0, at.u.min(at.v), at.y_row_stride, 1),
                    plane(at.u, u_end, at.chroma_row_stride, at.pixel_stride),
                    plane(at.v, at.total, at.chroma_row_stride, at.pixel_stride),
                ]
            }
            _ => [plane(0, at.total, at.y_row_stride, at.pixel_stride), Plane::EMPTY, Plane::EMPTY],
        };
        Frame::new(self.format(), width, height, planes)
    }

    fn planes(
        self,
        width: u32,
        height: u32,
        row_stride: Option<usize>,
        pixel_stride: Option<usize>,
    ) -> Planes {
        let (columns, rows) = (width as usize, height as usize);
        let pixel_stride = pixel_stride.unwrap_or(match self {
            Self::I420 => 1,
            Self::Nv12 | Self::Nv21 | Self::Yuyv => 2,
            Self::Rgb => 3,
            Self::Bgra | Self::Rgba => 4,
        });
        match self {
            Self::I420 | Self::Nv12 | Self::Nv21 => {
                let y_row_stride = row_stride.unwrap_or(columns);
                let chroma_row_stride = y_row_stride.div_ceil(2).saturating_mul(pixel_stride);
                let luma = y_row_stride.saturating_mul(rows);
                let chroma = chroma_row_stride.saturating_mul(rows.div_ceil(2));
                let (u, v, total) = match self {
                    Self::I420 => {
                        let v = luma.saturating_add(chroma);
                        (luma, v, v.saturating_add(chroma))
                    }
                    Self::Nv12 => (luma, luma.saturating_add(1), luma.saturating_add(chroma)),
                    _ => (luma.saturating_add(1), luma, luma.saturating_add(chroma)),
                };
                Planes { y_row_stride, chroma_row_stride, pixel_stride, u, v, total }
            }
            _ => {
                let columns =
                    if self == Self::Yuyv { columns.div_ceil(2).saturating_mul(2) } else { columns };
                let y_row_stride = row_stride.unwrap_or(columns.saturating_mul(pixel_stride));
                let total = y_row_stride.saturating_mul(rows);
                Planes { y_row_stride, chroma_row_stride: 0, pixel_stride, u: 0, v: 0, total }
            }
        }
    }
}

impl FromStr for BufferLayout {
    type Err = Error;

    /// Reads `i420`, `nv12`, `nv21`, `yuyv`, `bgra`, `rgba` or `rgb`.
    fn from_str(name: &str) -> Result<Self> {
        match name {
            "i420" => Ok(Self::I420),
            "nv12" => Ok(Self::Nv12),
            "nv21" => Ok(Self::Nv21),
            "yuyv" => Ok(Self::Yuyv),
            "bgra" => Ok(Self::Bgra),
            "rgba" => Ok(Self::Rgba),
            "rgb" => Ok(Self::Rgb),
            _ => Err(Error::UnknownName {
                what: "frame layout",
                value: name.to_owned(),
                expected: "i420, nv12, nv21, yuyv, bgra, rgba or rgb",
            }),
        }
    }
}
