//! From the bytes of a file to RGB.

use std::io::Cursor;
use std::panic::catch_unwind;

use image::metadata::Orientation;
use image::{ColorType, DynamicImage, ImageDecoder, ImageError, ImageFormat, ImageReader, Limits, Rgba};

use super::kind::Kind;
use super::orientation::rotation_and_mirror;
use super::{Photo, PhotoLimits, PhotoOptions, Pixels, chunks, jpeg};
use crate::{Error, Result};

pub(super) fn decode(bytes: &[u8], options: &PhotoOptions) -> Result<Photo> {
    options.limits.check_file(bytes.len() as u64)?;
    let (format, name) = match Kind::of(bytes) {
        Kind::Decoded(format, name) => (format, name),
        Kind::Unsupported(format) => return Err(Error::UnsupportedPhoto { format }),
        Kind::Unknown => return Err(Error::NotAPhoto { bytes: bytes.len() }),
    };
    // A decoder that panics on hostile bytes must not take the app with it.
    let decoded = catch_unwind(|| match format {
        ImageFormat::Jpeg => jpeg::decode(bytes, options),
        _ => decode_with_image(bytes, format, name, &options.limits),
    });
    let Pixels { width, height, rgb, orientation } = decoded.unwrap_or_else(|_| {
        Err(Error::CorruptPhoto { format: name, reason: "the decoder gave up on it".to_owned() })
    })?;
    if width == 0 || height == 0 {
        return Err(Error::CorruptPhoto { format: name, reason: format!("its size is {width}x{height}") });
    }
    let (rotation, mirror) = rotation_and_mirror(orientation);
    Ok(Photo { coded_width: width, coded_height: height, rgb, rotation, mirror })
}

fn decode_with_image(
    bytes: &[u8],
    format: ImageFormat,
    name: &'static str,
    limits: &PhotoLimits,
) -> Result<Pixels> {
    let refused = |error: ImageError| match error {
        ImageError::Limits(_) => limits.too_much_memory(),
        other => Error::CorruptPhoto { format: name, reason: other.to_string() },
    };
    if format == ImageFormat::Gif
        && let Some([width, height]) = chunks::gif_first_image(bytes).map(|sides| sides.map(u64::from))
    {
        limits.check_picture(width, height, width * height * 4)?;
    }
    let mut decoder_limits = Limits::no_limits();
    decoder_limits.max_alloc = Some(limits.max_decoder_bytes);
    let mut reader = ImageReader::with_format(Cursor::new(bytes), format);
    reader.limits(decoder_limits);
    let decoder = reader.into_decoder().map_err(refused)?;
    // Before anything is allocated for the pixels.
    let (width, height) = decoder.dimensions();
    let pixels = u64::from(width) * u64::from(height);
    let converted = if decoder.color_type() == ColorType::Rgb8 { 0 } else { pixels * 3 };
    let working = if format == ImageFormat::WebP { pixels * chunks::webp_working_bytes(bytes) } else { 0 };
    let memory = decoder.total_bytes().saturating_add(converted).saturating_add(working);
    limits.check_picture(width.into(), height.into(), memory)?;
    let orientation = match format {
        ImageFormat::WebP => chunks::webp_orientation(bytes),
        ImageFormat::Png => chunks::png_orientation(bytes),
        _ => None,
    };
    let orientation = orientation.unwrap_or(Orientation::NoTransforms);
    let rgb = to_rgb(DynamicImage::from_decoder(decoder).map_err(refused)?);
    Ok(Pixels { width, height, rgb, orientation })
}

/// Drops alpha, repeats grey, and of 16 bits keeps the upper 8: see [`Photo`].
fn to_rgb(picture: DynamicImage) -> Vec<u8> {
    let upper = |sample: u16| sample.to_be_bytes()[0];
    let triple = |[r, g, b]: [u16; 3]| [upper(r), upper(g), upper(b)];
    match picture {
        DynamicImage::ImageLuma16(picture) => {
            picture.pixels().flat_map(|pixel| [upper(pixel.0[0]); 3]).collect()
        }
        DynamicImage::ImageLumaA16(picture) => {
            picture.pixels().flat_map(|pixel| [upper(pixel.0[0]); 3]).collect()
        }
        DynamicImage::ImageRgb16(picture) => picture.pixels().flat_map(|pixel| triple(pixel.0)).collect(),
        DynamicImage::ImageRgba16(picture) => {
            picture.pixels().flat_map(|&Rgba([r, g, b, _])| triple([r, g, b])).collect()
        }
        other => other.into_rgb8().into_raw(),
    }
}
