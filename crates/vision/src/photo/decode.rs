//! Decoding through the `image` crate, within limits.

use std::io::Cursor;

use image::{DynamicImage, ImageDecoder, ImageError, ImageReader, Limits};

use super::kind::Kind;
use super::{Photo, PhotoLimits};
use crate::{Error, Result};

pub(super) fn decode(bytes: &[u8], limits: &PhotoLimits) -> Result<Photo> {
    check_limit("file in bytes", bytes.len() as u64, limits.max_file_bytes)?;
    let (format, name) = match Kind::of(bytes) {
        Kind::Decoded(format, name) => (format, name),
        Kind::Unsupported(format) => return Err(Error::UnsupportedPhoto { format }),
        Kind::Unknown => return Err(Error::NotAPhoto { bytes: bytes.len() }),
    };
    let explain = |error: ImageError| match error {
        ImageError::Limits(_) => Error::PhotoTooLarge {
            what: "memory to decode in bytes",
            has: limits.max_decoder_bytes.saturating_add(1),
            limit: limits.max_decoder_bytes,
        },
        other => Error::CorruptPhoto { format: name, reason: other.to_string() },
    };

    let mut reader = ImageReader::with_format(Cursor::new(bytes), format);
    reader.limits(decoder_limits(limits));
    let mut decoder = reader.into_decoder().map_err(explain)?;
    // Before anything is allocated for the pixels.
    let (width, height) = decoder.dimensions();
    check_limit("size in pixels", u64::from(width) * u64::from(height), limits.max_pixels)?;
    check_limit("memory to decode in bytes", decoder.total_bytes(), limits.max_decoder_bytes)?;
    // Damaged metadata is no reason to refuse a picture that decodes.
    let orientation = decoder.orientation().unwrap_or(image::metadata::Orientation::NoTransforms);

    let decoded = DynamicImage::from_decoder(decoder).map_err(explain)?;
    let mut upright = DynamicImage::ImageRgb8(decoded.into_rgb8());
    upright.apply_orientation(orientation);
    let rgb = upright.into_rgb8();
    let (width, height) = rgb.dimensions();
    if width == 0 || height == 0 {
        return Err(Error::CorruptPhoto { format: name, reason: format!("its size is {width}x{height}") });
    }
    Ok(Photo { width, height, rgb: rgb.into_raw() })
}

fn decoder_limits(limits: &PhotoLimits) -> Limits {
    let mut decoder_limits = Limits::default();
    decoder_limits.max_alloc = Some(limits.max_decoder_bytes);
    decoder_limits
}

fn check_limit(what: &'static str, has: u64, limit: u64) -> Result<()> {
    if has > limit { Err(Error::PhotoTooLarge { what, has, limit }) } else { Ok(()) }
}
