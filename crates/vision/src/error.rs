//! Everything that can be wrong with a frame, a photo or a specification, and what to do about it.

use std::path::PathBuf;

use crate::{PixelFormat, Rect};

/// A [`std::result::Result`] with this crate's [`Error`].
pub type Result<T> = std::result::Result<T, Error>;

/// Why a frame, a photo or a specification was refused. Each message says what is wrong, each [`Error::hint`] what to do.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// A frame of zero width or height.
    #[error("the frame is {width}x{height}: width and height must be at least 1")]
    EmptyFrame {
        /// Width of the frame in pixels.
        width: u32,
        /// Height of the frame in pixels.
        height: u32,
    },

    /// A plane has fewer bytes than its size and strides need.
    #[error(
        "plane {plane} of the {format} frame has {has} bytes and needs {needs} for {columns}x{rows} samples with row \
         stride {row_stride} and pixel stride {pixel_stride}"
    )]
    PlaneTooShort {
        /// Pixel format of the frame.
        format: PixelFormat,
        /// Which plane: `Y`, `U`, `V`, or the name of a packed format.
        plane: &'static str,
        /// Bytes that the plane has.
        has: usize,
        /// Bytes up to and including its last sample.
        needs: usize,
        /// Samples in a row of the plane.
        columns: u32,
        /// Rows of the plane.
        rows: u32,
        /// Bytes from one row to the next, as given.
        row_stride: usize,
        /// Bytes from one sample to the next, as given.
        pixel_stride: usize,
    },

    /// A row stride that is smaller than one row of samples.
    #[error(
        "plane {plane} of the {format} frame has row stride {row_stride}, but a row of {columns} samples with pixel \
         stride {pixel_stride} takes {needs} bytes"
    )]
    RowStrideTooSmall {
        /// Pixel format of the frame.
        format: PixelFormat,
        /// Which plane.
        plane: &'static str,
        /// Bytes from one row to the next, as given.
        row_stride: usize,
        /// Bytes that one row takes.
        needs: usize,
        /// Samples in a row of the plane.
        columns: u32,
        /// Bytes from one sample to the next, as given.
        pixel_stride: usize,
    },

    /// A pixel stride that does not fit the format.
    #[error("plane {plane} of the {format} frame has pixel stride {pixel_stride}, but it must be {expected}")]
    WrongPixelStride {
        /// Pixel format of the frame.
        format: PixelFormat,
        /// Which plane.
        plane: &'static str,
        /// Bytes from one sample to the next, as given.
        pixel_stride: usize,
        /// What the format asks for.
        expected: &'static str,
    },

    /// A crop that is empty or reaches beyond the frame.
    #[error(
        "the crop {}x{} at ({}, {}) does not lie inside the {width}x{height} frame",
        crop.width, crop.height, crop.x, crop.y
    )]
    CropOutsideFrame {
        /// The crop as given.
        crop: Rect,
        /// Width of the frame in pixels.
        width: u32,
        /// Height of the frame in pixels.
        height: u32,
    },

    /// An output buffer of another type than the tensor.
    #[error("the output buffer holds {has} elements, but the tensor takes {needs}")]
    WrongOutputType {
        /// Type of the buffer's elements.
        has: &'static str,
        /// Type of the tensor's.
        needs: &'static str,
    },

    /// An output buffer of the wrong length.
    #[error("the output buffer holds {has} elements, but a tensor of {width}x{height} pixels takes {needs}")]
    WrongOutputLength {
        /// Elements in the buffer.
        has: usize,
        /// Elements in the tensor.
        needs: usize,
        /// Width of the tensor's picture.
        width: u32,
        /// Height of the tensor's picture.
        height: u32,
    },

    /// A buffer for padded patches or their positions of the wrong length.
    #[error("the buffer for the {what} of patches holds {has} numbers, but {patches} patches take {needs}")]
    WrongPatchesLength {
        /// What goes into it: `pixels` or `positions`.
        what: &'static str,
        /// Numbers in the buffer.
        has: usize,
        /// Numbers that it takes.
        needs: usize,
        /// Patches, with the padding.
        patches: u32,
    },

    /// An image specification that cannot be followed.
    #[error("the image specification is invalid: {field} is {value}, but must be {expected}")]
    InvalidSpec {
        /// The field of [`ImageSpec`](crate::ImageSpec).
        field: &'static str,
        /// Its value.
        value: String,
        /// What it must be.
        expected: &'static str,
    },

    /// A picture whose patches would lie in too long a row.
    #[error(
        "a picture of {width}x{height} is too long and thin: it would be resized to {longer} pixels on its longer \
         side, and at most {limit} are possible"
    )]
    PictureTooThin {
        /// Width of the picture in pixels.
        width: u32,
        /// Height of the picture in pixels.
        height: u32,
        /// The longer side after resizing.
        longer: u64,
        /// The most that it may be.
        limit: u64,
    },

    /// A rotation that is not a multiple of a quarter turn.
    #[error("a rotation of {degrees} degrees is not possible")]
    InvalidRotation {
        /// Degrees as given.
        degrees: i64,
    },

    /// A word that names no option.
    #[error("`{value}` is not a {what}; use one of {expected}")]
    UnknownName {
        /// What was looked for.
        what: &'static str,
        /// The word.
        value: String,
        /// The words that are known.
        expected: &'static str,
    },

    /// A photo file that could not be read.
    #[error("cannot read the photo {}: {source}", path.display())]
    Io {
        /// Path of the file.
        path: PathBuf,
        /// What the system said.
        source: std::io::Error,
    },

    /// A photo in a format that is known but not decoded here.
    #[error("the photo is {format}, which is not supported")]
    UnsupportedPhoto {
        /// Name of the format.
        format: &'static str,
    },

    /// Bytes that are no image of any known kind.
    #[error("the photo's {bytes} bytes are not an image of a known kind")]
    NotAPhoto {
        /// Bytes given.
        bytes: usize,
    },

    /// A photo that is damaged or cut short.
    #[error("the {format} photo cannot be decoded ({reason})")]
    CorruptPhoto {
        /// Name of the format.
        format: &'static str,
        /// What the decoder said.
        reason: String,
    },

    /// A photo beyond the limits.
    #[error("the photo's {what} is {has}, above the limit of {limit}")]
    PhotoTooLarge {
        /// What is too large, with its unit.
        what: &'static str,
        /// How large it is.
        has: u64,
        /// How large it may be.
        limit: u64,
    },
}

impl Error {
    /// What to do about it.
    pub fn hint(&self) -> &'static str {
        match self {
            Self::EmptyFrame { .. } => "pass the size of the picture in pixels",
            Self::PlaneTooShort { .. } => "pass the whole plane, or the strides that it really has",
            Self::RowStrideTooSmall { .. } => "the row stride is in bytes, not pixels, and includes padding",
            Self::WrongPixelStride { .. } => {
                "the pixel stride is the distance in bytes from one sample of the plane to the next"
            }
            Self::CropOutsideFrame { .. } => {
                "a crop has at least one pixel and is given in the frame's own coordinates, before rotation"
            }
            Self::WrongOutputType { .. } => {
                "pass a slice of the type that the specification's `element` names"
            }
            Self::WrongOutputLength { .. } => "size the buffer with `output_len`",
            Self::WrongPatchesLength { .. } => {
                "size the buffers with the budget's `tensor_len` and `positions_len`"
            }
            Self::InvalidSpec { .. } => {
                "correct the specification, or the image entry of the package's manifest"
            }
            Self::PictureTooThin { .. } => "crop it, or let the encoder take fewer patches",
            Self::InvalidRotation { .. } => "use 0, 90, 180 or 270, clockwise",
            Self::UnknownName { .. } => "use one of the names listed",
            Self::Io { .. } => "check that the path exists and may be read",
            Self::UnsupportedPhoto { .. } => {
                "convert it to JPEG or PNG, or decode it with the platform and pass the pixels as a frame"
            }
            Self::NotAPhoto { .. } => "pass a whole JPEG, PNG, WebP, GIF or BMP file",
            Self::CorruptPhoto { .. } => {
                "the file is damaged, cut short or of a variant that is not supported: copy or export it again"
            }
            Self::PhotoTooLarge { .. } => "scale it down first, or raise the limit if the source is trusted",
        }
    }
}
