//! One plane of a frame, and what its format asks of it.

use crate::{Error, PixelFormat, Result};

/// One plane of a frame.
#[derive(Clone, Copy, Debug)]
pub struct Plane<'a> {
    /// The bytes, beginning with the first sample of the first row.
    pub bytes: &'a [u8],
    /// Bytes from one row to the next, padding included.
    pub row_stride: usize,
    /// Bytes from one sample to the next: 1 for a planar chroma plane, 2 for an interleaved one (P010: 2 and 4); bytes
    /// per pixel for a packed format (1 for grey, 2 for YUYV and RGB565, 3 for RGB and BGR, 4 for those with alpha).
    pub pixel_stride: usize,
}

impl Plane<'_> {
    /// A plane that is not in use.
    pub const EMPTY: Plane<'static> = Plane { bytes: &[], row_stride: 0, pixel_stride: 0 };
}

/// What a pixel format asks of one of its planes.
#[derive(Debug)]
pub(crate) struct PlaneShape {
    pub(crate) name: &'static str,
    /// Whether width and height are half of the frame's, rounded up.
    halved: bool,
    /// Bytes of one sample: those that are read, not the distance to the next.
    sample_bytes: usize,
    /// What the pixel stride is a multiple of: samples of 16 bits interleave with others of their kind.
    stride_unit: usize,
    /// The pixel stride that the format fixes, where it does.
    fixed_pixel_stride: Option<usize>,
    expected_pixel_stride: &'static str,
}

impl PlaneShape {
    const fn yuv(name: &'static str, halved: bool) -> Self {
        Self { halved, ..Self::packed(name, 1, "at least 1") }
    }

    const fn p010(name: &'static str, halved: bool) -> Self {
        Self { halved, stride_unit: 2, ..Self::packed(name, 2, "2 or a multiple of it, in bytes") }
    }

    const fn packed(name: &'static str, sample_bytes: usize, expected_pixel_stride: &'static str) -> Self {
        Self {
            name,
            halved: false,
            sample_bytes,
            stride_unit: 1,
            fixed_pixel_stride: None,
            expected_pixel_stride,
        }
    }

    pub(crate) fn of(format: PixelFormat) -> &'static [Self] {
        static YUV420: [PlaneShape; 3] =
            [PlaneShape::yuv("Y", false), PlaneShape::yuv("U", true), PlaneShape::yuv("V", true)];
        static P010: [PlaneShape; 3] =
            [PlaneShape::p010("Y", false), PlaneShape::p010("U", true), PlaneShape::p010("V", true)];
        static YUYV: [PlaneShape; 1] =
            [PlaneShape { fixed_pixel_stride: Some(2), ..PlaneShape::packed("YUYV", 2, "2") }];
        static BGRA: [PlaneShape; 1] = [PlaneShape::packed("BGRA", 4, "at least 4")];
        static RGBA: [PlaneShape; 1] = [PlaneShape::packed("RGBA", 4, "at least 4")];
        static ARGB: [PlaneShape; 1] = [PlaneShape::packed("ARGB", 4, "at least 4")];
        static RGB: [PlaneShape; 1] = [PlaneShape::packed("RGB", 3, "at least 3")];
        static BGR: [PlaneShape; 1] = [PlaneShape::packed("BGR", 3, "at least 3")];
        static GRAY8: [PlaneShape; 1] = [PlaneShape::packed("GRAY8", 1, "at least 1")];
        static RGB565: [PlaneShape; 1] = [PlaneShape::packed("RGB565", 2, "at least 2")];
        match format {
            PixelFormat::Yuv420 => &YUV420,
            PixelFormat::P010 => &P010,
            PixelFormat::Yuyv => &YUYV,
            PixelFormat::Bgra => &BGRA,
            PixelFormat::Rgba => &RGBA,
            PixelFormat::Argb => &ARGB,
            PixelFormat::Rgb => &RGB,
            PixelFormat::Bgr => &BGR,
            PixelFormat::Gray8 => &GRAY8,
            PixelFormat::Rgb565 => &RGB565,
        }
    }

    /// Samples in a row and rows, in a frame of this size.
    pub(crate) fn size(&self, width: u32, height: u32) -> (u32, u32) {
        if self.halved { (width.div_ceil(2), height.div_ceil(2)) } else { (width, height) }
    }

    /// Bytes of a row from its first sample to its last, without padding.
    pub(crate) fn row_bytes(&self, pixel_stride: usize, columns: u32) -> usize {
        let mut columns = columns as usize;
        if self.fixed_pixel_stride == Some(2) {
            // YUYV shares chroma between two pixels, so that its rows hold an even number of them.
            columns = columns.div_ceil(2).saturating_mul(2);
        }
        (columns - 1).saturating_mul(pixel_stride).saturating_add(self.sample_bytes)
    }

    /// Bytes of the plane from its first sample to its last.
    pub(crate) fn needed_bytes(&self, plane: &Plane<'_>, width: u32, height: u32) -> usize {
        let (columns, rows) = self.size(width, height);
        let before = (rows as usize - 1).saturating_mul(plane.row_stride);
        before.saturating_add(self.row_bytes(plane.pixel_stride, columns))
    }

    pub(super) fn check(
        &self,
        format: PixelFormat,
        plane: &Plane<'_>,
        width: u32,
        height: u32,
    ) -> Result<()> {
        let Plane { bytes, row_stride, pixel_stride } = *plane;
        let (columns, rows) = self.size(width, height);
        let fits = match self.fixed_pixel_stride {
            Some(fixed) => pixel_stride == fixed,
            None => pixel_stride >= self.sample_bytes && pixel_stride.is_multiple_of(self.stride_unit),
        };
        if !fits {
            let expected = self.expected_pixel_stride;
            return Err(Error::WrongPixelStride { format, plane: self.name, pixel_stride, expected });
        }
        let row = self.row_bytes(pixel_stride, columns);
        if rows > 1 && row_stride < row {
            return Err(Error::RowStrideTooSmall {
                format,
                plane: self.name,
                row_stride,
                needs: row,
                columns,
                pixel_stride,
            });
        }
        let needs = self.needed_bytes(plane, width, height);
        // Callers often hand on the U plane of an Android image as if it held all of U and V: the last sample of the
        // later one is then missing, or of its two bytes one.
        let may_lack_last = self.halved && pixel_stride >= 2 * self.sample_bytes && needs > self.sample_bytes;
        let lacks = if may_lack_last { self.sample_bytes } else { 0 };
        if bytes.len() < needs - lacks {
            return Err(Error::PlaneTooShort {
                format,
                plane: self.name,
                has: bytes.len(),
                needs,
                columns,
                rows,
                row_stride,
                pixel_stride,
            });
        }
        Ok(())
    }
}
