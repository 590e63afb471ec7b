//! Photos: image files decoded to upright RGB.

mod decode;
mod jpeg;
mod kind;
mod limits;

pub use limits::PhotoLimits;

use std::fs::File;
use std::io::{self, Read};
use std::path::Path;

use crate::{Error, Frame, PixelFormat, Plane, Result};

/// A decoded photo: 8-bit RGB, upright by its EXIF orientation.
///
/// Reads JPEG (also progressive, greyscale and CMYK), PNG, WebP, GIF (its first picture) and BMP. Alpha is dropped,
/// not composited, as Pillow's `convert("RGB")` does for training data; 16-bit samples are rounded to 8 bits; grey is
/// repeated in all three channels. Embedded colour profiles are not applied.
#[derive(Clone, PartialEq, Eq)]
pub struct Photo {
    width: u32,
    height: u32,
    rgb: Vec<u8>,
}

impl Photo {
    /// Decodes an image file that is already in memory, with the default limits.
    ///
    /// # Errors
    /// [`Error::NotAPhoto`], [`Error::UnsupportedPhoto`] (HEIC and AVIF among others), [`Error::CorruptPhoto`] or
    /// [`Error::PhotoTooLarge`].
    pub fn decode(bytes: &[u8]) -> Result<Self> {
        Self::decode_with(bytes, &PhotoLimits::default())
    }

    /// Decodes an image file that is already in memory, with limits of the caller's.
    ///
    /// # Errors
    /// As [`Self::decode`].
    pub fn decode_with(bytes: &[u8], limits: &PhotoLimits) -> Result<Self> {
        decode::decode(bytes, limits)
    }

    /// Reads and decodes an image file, with the default limits.
    ///
    /// # Errors
    /// [`Error::Io`] if it cannot be read, else as [`Self::decode`].
    pub fn open(path: impl AsRef<Path>) -> Result<Self> {
        let path = path.as_ref();
        let limits = PhotoLimits::default();
        let io = |source| Error::Io { path: path.to_owned(), source };
        let mut bytes = Vec::new();
        // One byte more than allowed tells a file that is too large, even where the size is unknown.
        open_regular(path)
            .and_then(|file| file.take(limits.max_file_bytes.saturating_add(1)).read_to_end(&mut bytes))
            .map_err(io)?;
        Self::decode_with(&bytes, &limits)
    }

    /// A photo from pixels that are already RGB and upright: `width * height * 3` bytes, rows without padding.
    ///
    /// # Errors
    /// [`Error::EmptyFrame`] or [`Error::PlaneTooShort`] if there are not enough bytes.
    pub fn from_rgb(rgb: Vec<u8>, width: u32, height: u32) -> Result<Self> {
        Frame::rgb(&rgb, width, height, None)?;
        Ok(Self { width, height, rgb })
    }

    /// Width in pixels, upright.
    pub fn width(&self) -> u32 {
        self.width
    }

    /// Height in pixels, upright.
    pub fn height(&self) -> u32 {
        self.height
    }

    /// The pixels: R, G, B, row by row without padding.
    pub fn rgb(&self) -> &[u8] {
        &self.rgb
    }

    /// The photo as a frame.
    pub fn frame(&self) -> Frame<'_> {
        let plane = Plane { bytes: &self.rgb, row_stride: self.width as usize * 3, pixel_stride: 3 };
        Frame {
            format: PixelFormat::Rgb,
            width: self.width,
            height: self.height,
            planes: [plane, Plane::EMPTY, Plane::EMPTY],
            ..Frame::empty()
        }
    }
}

/// A pipe or device could block or never end.
fn open_regular(path: &Path) -> io::Result<File> {
    if !std::fs::metadata(path)?.is_file() {
        return Err(io::Error::new(io::ErrorKind::InvalidInput, "it is not a regular file"));
    }
    File::open(path)
}

impl std::fmt::Debug for Photo {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Photo")
            .field("width", &self.width)
            .field("height", &self.height)
            .finish_non_exhaustive()
    }
}
