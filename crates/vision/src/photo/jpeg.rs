//! JPEG, decoded strictly.
//!
//! `image` uses the same decoder, but leniently: a file that is cut short comes out grey from there on, and a network
//! would label it all the same.

use image::metadata::Orientation;
use image::{DynamicImage, RgbImage};
use zune_core::bytestream::ZCursor;
use zune_core::colorspace::ColorSpace;
use zune_core::options::DecoderOptions;
use zune_jpeg::JpegDecoder;
use zune_jpeg::errors::DecodeErrors;

use super::PhotoLimits;
use crate::{Error, Result};

/// Decodes baseline and progressive JPEG of any colour space to RGB, and reads the orientation.
pub(super) fn decode(bytes: &[u8], limits: &PhotoLimits) -> Result<(DynamicImage, Orientation)> {
    let corrupt = |reason: String| Error::CorruptPhoto { format: "JPEG", reason };
    let refused = |error: DecodeErrors| corrupt(error.to_string().trim().to_owned());

    // JPEG itself allows 65535 a side; the limits count pixels.
    let options = DecoderOptions::default()
        .set_strict_mode(true)
        .set_max_width(u16::MAX.into())
        .set_max_height(u16::MAX.into())
        .jpeg_set_out_colorspace(ColorSpace::RGB);
    let mut decoder = JpegDecoder::new_with_options(ZCursor::new(bytes), options);
    decoder.decode_headers().map_err(refused)?;
    let (width, height) = decoder.dimensions().ok_or_else(|| corrupt("it has no size".to_owned()))?;
    let rgb_bytes = width as u64 * height as u64 * 3;
    limits.check_picture(width as u64, height as u64, rgb_bytes)?;
    if !reaches_end_of_image(bytes) {
        return Err(corrupt("it ends before its end-of-image marker".to_owned()));
    }
    let orientation = decoder.exif().and_then(|exif| Orientation::from_exif_chunk(exif));

    let rgb_bytes = usize::try_from(rgb_bytes).map_err(|_| limits.too_much_memory())?;
    let mut rgb = vec![0; rgb_bytes];
    decoder.decode_into(&mut rgb).map_err(refused)?;
    let rgb = RgbImage::from_raw(width as u32, height as u32, rgb)
        .ok_or_else(|| corrupt("its size does not fit its pixels".to_owned()))?;
    Ok((rgb.into(), orientation.unwrap_or(Orientation::NoTransforms)))
}

/// Whether the segments and scans lead to an end-of-image marker; ITU-T T.81 sections B.1.1.2 to B.1.1.4. The decoder
/// stops at the last block, whether that was still a picture or not.
fn reaches_end_of_image(bytes: &[u8]) -> bool {
    let mut at = 0;
    while let Some(found) = bytes.get(at..).and_then(|rest| rest.iter().position(|&byte| byte == 0xff)) {
        at += found + 1;
        match bytes.get(at) {
            Some(0xd9) => return true,
            // Fill bytes before a marker.
            Some(0xff) => {}
            // A stuffed 0xff within a scan, restart markers, start of image: nothing follows that has a length.
            Some(0x00 | 0x01 | 0xd0..=0xd8) => at += 1,
            // A segment, whose length counts its own two bytes. A scan follows its header without a length.
            Some(_) => {
                let length = bytes.get(at + 1..).and_then(|rest| rest.first_chunk());
                let Some(&length) = length else { return false };
                at += 1 + usize::from(u16::from_be_bytes(length));
            }
            None => return false,
        }
    }
    false
}
