//! What is read of a WebP file before its decoder is; the container is RIFF.

use image::metadata::Orientation;

/// The orientation in the EXIF chunk. The decoder would allocate as much for that as it claims to be long.
pub(super) fn orientation(bytes: &[u8]) -> Option<Orientation> {
    let mut rest = bytes.get(12..)?;
    loop {
        let (name, after) = rest.split_first_chunk::<4>()?;
        let (&len, after) = after.split_first_chunk()?;
        let len = u32::from_le_bytes(len) as usize;
        if name == b"EXIF" {
            let exif = after.get(..len)?;
            return Orientation::from_exif_chunk(exif.strip_prefix(b"Exif\0\0").unwrap_or(exif));
        }
        rest = after.get(len.checked_next_multiple_of(2)?..)?;
    }
}

/// Bytes per pixel that the decoder takes besides its result: planes or a copy with alpha; of an animation, the canvas
/// too.
pub(super) fn working_bytes_per_pixel(bytes: &[u8]) -> u64 {
    let is_animated = bytes.get(12..16) == Some(b"VP8X") && bytes.get(20).is_some_and(|flags| flags & 2 != 0);
    if is_animated { 8 } else { 4 }
}
