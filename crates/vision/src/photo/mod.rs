//! Photos: image files decoded to RGB.

mod chunks;
mod decode;
mod jpeg;
mod kind;
mod limits;
mod orientation;

pub use limits::PhotoLimits;

use std::borrow::Cow;
use std::fs::File;
use std::io::{self, Read};
use std::path::Path;

use image::metadata::Orientation;

use crate::{Error, Frame, PixelFormat, Plane, Result, Rotation};

/// A decoded photo: 8-bit RGB, upright by its EXIF orientation.
///
/// Reads JPEG (also progressive, greyscale, CMYK and Adobe's YCCK), PNG, WebP, GIF (its first picture) and BMP, and
/// gives the bytes that Pillow's `convert("RGB")` gives for them, which is what networks were trained on: JPEG as
/// libjpeg decodes it, alpha dropped rather than composited, grey repeated in all three channels, embedded colour
/// profiles not applied. Of 16-bit samples the upper 8 bits are kept, as Pillow and OpenCV do for colours;
/// Pillow clips 16-bit grey to white, which is of no use, and OpenCV's way is followed there too.
///
/// A file that is damaged or cut short is refused, as a network would label what is left of it all the same.
///
/// The pixels stay as the file has them: [`Photo::frame`] says how to turn them, which costs a [`Preprocessor`]
/// nothing.
///
/// [`Preprocessor`]: crate::Preprocessor
#[derive(Clone, PartialEq, Eq)]
pub struct Photo {
    coded_width: u32,
    coded_height: u32,
    /// Not turned yet.
    rgb: Vec<u8>,
    /// What makes it upright.
    rotation: Rotation,
    mirror: bool,
}

/// How to decode a photo.
///
/// ```
/// # let jpeg = &[0xff][..];
/// use nearside_vision::{Photo, PhotoOptions};
///
/// // Enough for a network that looks at 512x512 pixels.
/// let options = PhotoOptions { at_least: Some((512, 512)), ..PhotoOptions::default() };
/// let photo = Photo::decode_with(jpeg, &options);
/// # assert!(photo.is_err());
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct PhotoOptions {
    /// How much the photo may ask for.
    pub limits: PhotoLimits,
    /// Decodes JPEG to a half, a quarter or an eighth of its width and height, the smallest at which the upright
    /// picture is still at least so wide and high. Two to three times faster, with a fraction of the memory.
    ///
    /// The pixels are those of libjpeg's scaled decoding (`cv2.IMREAD_REDUCED_COLOR_4`, `Image.draft`), which
    /// averages in its own way: what is resized from them differs a little from what the full picture gives. Other
    /// kinds of files are decoded in full.
    pub at_least: Option<(u32, u32)>,
}

/// What a decoder gives.
struct Pixels {
    width: u32,
    height: u32,
    rgb: Vec<u8>,
    orientation: Orientation,
}

impl Photo {
    /// Decodes an image file that is already in memory, in full and with the default limits.
    ///
    /// # Errors
    /// [`Error::NotAPhoto`], [`Error::UnsupportedPhoto`] (HEIC and AVIF among others), [`Error::CorruptPhoto`] or
    /// [`Error::PhotoTooLarge`].
    pub fn decode(bytes: &[u8]) -> Result<Self> {
        Self::decode_with(bytes, &PhotoOptions::default())
    }

    /// Decodes an image file that is already in memory, in the caller's way.
    ///
    /// # Errors
    /// As [`Self::decode`].
    pub fn decode_with(bytes: &[u8], options: &PhotoOptions) -> Result<Self> {
        decode::decode(bytes, options)
    }

    /// Reads and decodes an image file, in full and with the default limits.
    ///
    /// # Errors
    /// [`Error::Io`] if it cannot be read, else as [`Self::decode`].
    pub fn open(path: impl AsRef<Path>) -> Result<Self> {
        Self::open_with(path, &PhotoOptions::default())
    }

    /// Reads and decodes an image file, in the caller's way.
    ///
    /// # Errors
    /// As [`Self::open`].
    pub fn open_with(path: impl AsRef<Path>, options: &PhotoOptions) -> Result<Self> {
        let path = path.as_ref();
        let io = |source| Error::Io { path: path.to_owned(), source };
        let mut bytes = Vec::new();
        // One byte more than allowed tells a file that is too large, even where the size is unknown.
        let most = options.limits.max_file_bytes.saturating_add(1);
        open_regular(path).and_then(|file| file.take(most).read_to_end(&mut bytes)).map_err(io)?;
        Self::decode_with(&bytes, options)
    }

    /// A photo from pixels that are already RGB and upright: `width * height * 3` bytes, rows without padding.
    ///
    /// # Errors
    /// [`Error::EmptyFrame`] or [`Error::PlaneTooShort`] if there are not enough bytes.
    pub fn from_rgb(rgb: Vec<u8>, width: u32, height: u32) -> Result<Self> {
        Frame::rgb(&rgb, width, height, None)?;
        Ok(Self { coded_width: width, coded_height: height, rgb, rotation: Rotation::R0, mirror: false })
    }

    /// Width in pixels, upright.
    pub fn width(&self) -> u32 {
        if self.rotation.swaps_axes() { self.coded_height } else { self.coded_width }
    }

    /// Height in pixels, upright.
    pub fn height(&self) -> u32 {
        if self.rotation.swaps_axes() { self.coded_width } else { self.coded_height }
    }

    /// The pixels, upright: R, G, B, row by row without padding. A copy, if the file has them turned.
    pub fn rgb(&self) -> Cow<'_, [u8]> {
        if (self.rotation, self.mirror) == (Rotation::R0, false) {
            return Cow::Borrowed(&self.rgb);
        }
        let size = [self.coded_width, self.coded_height].map(|len| len as usize);
        Cow::Owned(orientation::turned(&self.rgb, size, self.rotation, self.mirror))
    }

    /// The photo as a frame: the pixels as the file has them, with the rotation and mirror that make them upright.
    pub fn frame(&self) -> Frame<'_> {
        let plane = Plane { bytes: &self.rgb, row_stride: self.coded_width as usize * 3, pixel_stride: 3 };
        Frame {
            format: PixelFormat::Rgb,
            width: self.coded_width,
            height: self.coded_height,
            planes: [plane, Plane::EMPTY, Plane::EMPTY],
            rotation: self.rotation,
            mirror: self.mirror,
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
            .field("width", &self.width())
            .field("height", &self.height())
            .finish_non_exhaustive()
    }
}
