//! From the bytes of a file to upright RGB.

use std::io::Cursor;
use std::panic::catch_unwind;

use image::metadata::Orientation;
use image::{DynamicImage, ImageDecoder, ImageError, ImageFormat, ImageReader, Limits};

use super::kind::Kind;
use super::{Photo, PhotoLimits, jpeg};
use crate::{Error, Result};

pub(super) fn decode(bytes: &[u8], limits: &PhotoLimits) -> Result<Photo> {
    limits.check_file(bytes.len() as u64)?;
    let (format, name) = match Kind::of(bytes) {
        Kind::Decoded(format, name) => (format, name),
        Kind::Unsupported(format) => return Err(Error::UnsupportedPhoto { format }),
        Kind::Unknown => return Err(Error::NotAPhoto { bytes: bytes.len() }),
    };
    // A decoder that panics on hostile bytes must not take the app with it.
    let decoded = catch_unwind(|| match format {
        ImageFormat::Jpeg => jpeg::decode(bytes, limits),
        _ => decode_with_image(bytes, format, name, limits),
    });
    let (picture, orientation) = decoded.unwrap_or_else(|_| {
        Err(Error::CorruptPhoto { format: name, reason: "the decoder gave up on it".to_owned() })
    })?;

    let mut upright = DynamicImage::ImageRgb8(picture.into_rgb8());
    upright.apply_orientation(orientation);
    let rgb = upright.into_rgb8();
    let (width, height) = rgb.dimensions();
    if width == 0 || height == 0 {
        return Err(Error::CorruptPhoto { format: name, reason: format!("its size is {width}x{height}") });
    }
    Ok(Photo { width, height, rgb: rgb.into_raw() })
}

fn decode_with_image(
    bytes: &[u8],
    format: ImageFormat,
    name: &'static str,
    limits: &PhotoLimits,
) -> Result<(DynamicImage, Orientation)> {
    let refused = |error: ImageError| match error {
        ImageError::Limits(_) => limits.too_much_memory(),
        other => Error::CorruptPhoto { format: name, reason: other.to_string() },
    };
    let mut decoder_limits = Limits::no_limits();
    decoder_limits.max_alloc = Some(limits.max_decoder_bytes);
    let mut reader = ImageReader::with_format(Cursor::new(bytes), format);
    reader.limits(decoder_limits);
    let mut decoder = reader.into_decoder().map_err(refused)?;
    // Before anything is allocated for the pixels.
    let (width, height) = decoder.dimensions();
    limits.check_picture(width.into(), height.into(), decoder.total_bytes())?;
    // Damaged metadata is no reason to refuse a picture that decodes.
    let orientation = decoder.orientation().unwrap_or(Orientation::NoTransforms);
    Ok((DynamicImage::from_decoder(decoder).map_err(refused)?, orientation))
}
