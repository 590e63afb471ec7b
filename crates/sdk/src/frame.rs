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
    /// Where the U and V samples sit; RGB formats ignore it.
    pub chroma_siting: ChromaSiting,
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

/// What the samples of a YUV 4:2:0 frame in three planes are.
#[derive(Clone, Copy, Debug, PartialEq, Eq, uniffi::Enum)]
pub enum YuvFormat {
    /// 8 bits: Android's `YUV_420_888`, Apple's `420v` and `420f`, I420, YV12, NV12, NV21.
    Yuv420,
    /// 10 bits in the high ones of 16, little endian: Android's `YCBCR_P010`, Apple's `x420` and `xf20`. Strides are in
    /// bytes; HDR is not tone-mapped.
    P010,
}

/// Where the samples of a YUV 4:2:0 frame lie. U and V may interleave in one allocation.
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
    /// Blue, green, red, alpha; alpha is ignored. Apple's `kCVPixelFormatType_32BGRA`.
    Bgra,
    /// Red, green, blue, alpha; alpha is ignored. Android's `RGBA_8888`, and the memory of an `ARGB_8888` bitmap.
    Rgba,
    /// Alpha, red, green, blue; alpha is ignored. Apple's `kCVPixelFormatType_32ARGB`.
    Argb,
    /// Red, green, blue.
    Rgb,
    /// Blue, green, red: OpenCV's order.
    Bgr,
    /// One grey byte a pixel, 0 black and 255 white.
    Gray8,
    /// 16 bits a pixel, little endian: red in the high 5, green in the middle 6, blue in the low 5. Android's
    /// `RGB_565`.
    Rgb565,
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
    /// ITU-R BT.2020, non-constant luminance: HDR video.
    Bt2020,
}

/// Where the U and V samples sit among the columns of Y.
#[derive(Clone, Copy, Debug, PartialEq, Eq, uniffi::Enum)]
pub enum ChromaSiting {
    /// In the middle of two columns: JPEG, and most cameras.
    Center,
    /// On the even columns: H.264 and HEVC video unless they say otherwise.
    Left,
}

/// The range of YUV values. Those of 10 bits are four times as large.
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
        chroma_siting: metadata.chroma_siting.into(),
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

impl From<YuvFormat> for vision::PixelFormat {
    fn from(format: YuvFormat) -> Self {
        match format {
            YuvFormat::Yuv420 => Self::Yuv420,
            YuvFormat::P010 => Self::P010,
        }
    }
}

impl From<PackedFormat> for vision::PixelFormat {
    fn from(format: PackedFormat) -> Self {
        match format {
            PackedFormat::Yuyv => Self::Yuyv,
            PackedFormat::Bgra => Self::Bgra,
            PackedFormat::Rgba => Self::Rgba,
            PackedFormat::Argb => Self::Argb,
            PackedFormat::Rgb => Self::Rgb,
            PackedFormat::Bgr => Self::Bgr,
            PackedFormat::Gray8 => Self::Gray8,
            PackedFormat::Rgb565 => Self::Rgb565,
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
            YuvMatrix::Bt2020 => Self::Bt2020,
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

impl From<ChromaSiting> for vision::ChromaSiting {
    fn from(siting: ChromaSiting) -> Self {
        match siting {
            ChromaSiting::Center => Self::Center,
            ChromaSiting::Left => Self::Left,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn metadata() -> FrameMetadata {
        FrameMetadata {
            width: 6,
            height: 4,
            crop: Some(Rect { x: 1, y: 2, width: 3, height: 2 }),
            rotation: Rotation::R270,
            mirror: true,
            matrix: YuvMatrix::Bt2020,
            range: YuvRange::Full,
            chroma_siting: ChromaSiting::Left,
            timestamp_ns: 7,
        }
    }

    #[test]
    fn everything_that_is_said_of_a_frame_reaches_it() {
        let planes = [vision::Plane::EMPTY; 3];
        let frame = frame(&metadata(), YuvFormat::P010.into(), planes).unwrap();
        assert_eq!((frame.format, frame.width, frame.height), (vision::PixelFormat::P010, 6, 4));
        assert_eq!(frame.crop, Some(vision::Rect { x: 1, y: 2, width: 3, height: 2 }));
        assert_eq!((frame.rotation, frame.mirror), (vision::Rotation::R270, true));
        assert_eq!((frame.matrix, frame.range), (vision::Matrix::Bt2020, vision::Range::Full));
        assert_eq!((frame.chroma_siting, frame.timestamp_ns), (vision::ChromaSiting::Left, 7));
    }

    #[test]
    fn every_format_is_that_of_its_name() {
        use vision::PixelFormat;
        let formats = [
            (PackedFormat::Yuyv, PixelFormat::Yuyv),
            (PackedFormat::Bgra, PixelFormat::Bgra),
            (PackedFormat::Rgba, PixelFormat::Rgba),
            (PackedFormat::Argb, PixelFormat::Argb),
            (PackedFormat::Rgb, PixelFormat::Rgb),
            (PackedFormat::Bgr, PixelFormat::Bgr),
            (PackedFormat::Gray8, PixelFormat::Gray8),
            (PackedFormat::Rgb565, PixelFormat::Rgb565),
        ];
        for (packed, expected) in formats {
            assert_eq!(PixelFormat::from(packed), expected);
        }
        assert_eq!(PixelFormat::from(YuvFormat::Yuv420), PixelFormat::Yuv420);
    }

    #[test]
    fn negative_sizes_and_strides_are_refused() {
        let frame = frame(
            &FrameMetadata { width: -1, ..metadata() },
            YuvFormat::P010.into(),
            [vision::Plane::EMPTY; 3],
        );
        assert!(matches!(frame, Err(NearsideError::InvalidInput { .. })));
        let layout = PlaneLayout { row_stride: 4, pixel_stride: -2 };
        assert!(matches!(plane("Y", &[], layout), Err(NearsideError::InvalidInput { .. })));
    }
}
