//! The pixel formats, by the names that cameras and decoders give them.

use super::Sample;

/// How the samples of a frame lie in its planes.
///
/// Packed formats are named by the order of their bytes in memory, not in a word: Android's `Bitmap.Config.ARGB_8888`
/// is [`PixelFormat::Rgba`], libyuv's `ARGB` is [`PixelFormat::Bgra`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum PixelFormat {
    /// YUV 4:2:0 in three planes Y, U, V of 8 bits with any row and pixel strides. U and V have half the width and
    /// height of Y, rounded up, and may interleave in one allocation.
    ///
    /// Android: `ImageFormat.YUV_420_888`, `NV21`, `YV12`. Apple: `kCVPixelFormatType_420YpCbCr8BiPlanarVideoRange`
    /// (`420v`), `…FullRange` (`420f`), `kCVPixelFormatType_420YpCbCr8Planar`. OpenCV: `COLOR_YUV2RGB_NV12`, `_NV21`,
    /// `_I420`, `_YV12`.
    Yuv420,
    /// As [`PixelFormat::Yuv420`] with 16 bits a sample, little endian at any alignment: the value is in the high 10
    /// bits, the low 6 are ignored. Strides are in bytes: the pixel stride of Y is 2, that of interleaved U and V is
    /// 4.
    ///
    /// Android: `ImageFormat.YCBCR_P010`. Apple: `kCVPixelFormatType_420YpCbCr10BiPlanarVideoRange` (`x420`),
    /// `…FullRange` (`xf20`). FFmpeg: `p010le`. The transfer function stays as it is: HLG and PQ are not tone-mapped.
    P010,
    /// YUV 4:2:2 packed as Y0 U Y1 V. A row of odd width ends with a whole group of four bytes.
    ///
    /// Apple: `kCVPixelFormatType_422YpCbCr8_yuvs`. OpenCV: `COLOR_YUV2RGB_YUY2`. V4L2: `YUYV`; FFmpeg: `yuyv422`.
    Yuyv,
    /// Blue, green, red, alpha. Alpha is ignored.
    ///
    /// Apple: `kCVPixelFormatType_32BGRA`. OpenCV: four channels as `imread` gives them.
    Bgra,
    /// Red, green, blue, alpha. Alpha is ignored.
    ///
    /// Android: `PixelFormat.RGBA_8888`, `Bitmap.Config.ARGB_8888`, CameraX's `OUTPUT_IMAGE_FORMAT_RGBA_8888`. Apple:
    /// `kCVPixelFormatType_32RGBA`.
    Rgba,
    /// Alpha, red, green, blue. Alpha is ignored.
    ///
    /// Apple: `kCVPixelFormatType_32ARGB`.
    Argb,
    /// Red, green, blue.
    ///
    /// Android: `PixelFormat.RGB_888`. Apple: `kCVPixelFormatType_24RGB`.
    Rgb,
    /// Blue, green, red.
    ///
    /// Apple: `kCVPixelFormatType_24BGR`. OpenCV: `CV_8UC3` as `imread` and `VideoCapture` give it.
    Bgr,
    /// One byte a pixel, 0 black and 255 white: red, green and blue are all the same.
    ///
    /// Android: `ImageFormat.Y8`. Apple: `kCVPixelFormatType_OneComponent8`. OpenCV: `CV_8UC1`.
    Gray8,
    /// 16 bits a pixel, little endian at any alignment: red in the high 5 bits, green in the middle 6, blue in the
    /// low 5.
    ///
    /// Android: `PixelFormat.RGB_565`, `Bitmap.Config.RGB_565`. Apple: `kCVPixelFormatType_16LE565`. FFmpeg:
    /// `rgb565le`.
    Rgb565,
}

impl PixelFormat {
    /// Whether its samples are Y, U and V, so that the frame's matrix and range say how they are to be seen.
    pub fn is_yuv(self) -> bool {
        match self {
            Self::Yuv420 | Self::P010 | Self::Yuyv => true,
            Self::Bgra | Self::Rgba | Self::Argb | Self::Rgb | Self::Bgr | Self::Gray8 | Self::Rgb565 => {
                false
            }
        }
    }

    /// How its samples are stored.
    pub(crate) fn sample(self) -> Sample {
        match self {
            Self::P010 => Sample::P010,
            Self::Rgb565 => Sample::Rgb565,
            Self::Yuv420
            | Self::Yuyv
            | Self::Bgra
            | Self::Rgba
            | Self::Argb
            | Self::Rgb
            | Self::Bgr
            | Self::Gray8 => Sample::U8,
        }
    }
}

impl std::fmt::Display for PixelFormat {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(match self {
            Self::Yuv420 => "YUV 4:2:0",
            Self::P010 => "P010",
            Self::Yuyv => "YUYV",
            Self::Bgra => "BGRA",
            Self::Rgba => "RGBA",
            Self::Argb => "ARGB",
            Self::Rgb => "RGB",
            Self::Bgr => "BGR",
            Self::Gray8 => "GRAY8",
            Self::Rgb565 => "RGB565",
        })
    }
}
