//! What the chunks of PNG, WebP and GIF files say before they are decoded: orientation, and what they will take.

use image::metadata::Orientation;

/// The orientation of a PNG file. The decoder reads no chunk after the pixels, where EXIF may be.
pub(super) fn png_orientation(bytes: &[u8]) -> Option<Orientation> {
    let mut rest = bytes.get(8..)?;
    loop {
        let (&len, after) = rest.split_first_chunk()?;
        let (name, after) = after.split_first_chunk::<4>()?;
        let len = u32::from_be_bytes(len) as usize;
        if name == b"eXIf" {
            return Orientation::from_exif_chunk(after.get(..len)?);
        }
        // A checksum follows.
        rest = after.get(len.checked_add(4)?..)?;
    }
}

/// The orientation of a WebP file (RIFF). The decoder would allocate as much for EXIF as it claims to be long.
pub(super) fn webp_orientation(bytes: &[u8]) -> Option<Orientation> {
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

/// Bytes per pixel that the decoder of WebP takes besides its result: planes or a copy with alpha; of an animation, the canvas
/// too.
pub(super) fn webp_working_bytes(bytes: &[u8]) -> u64 {
    let is_animated = bytes.get(12..16) == Some(b"VP8X") && bytes.get(20).is_some_and(|flags| flags & 2 != 0);
    if is_animated { 8 } else { 4 }
}

/// Width and height of the first image of a GIF file (GIF89a section 20), which has nothing to do with those of its
/// screen. The decoder takes memory for it before it is cut to the screen.
pub(super) fn gif_first_image(bytes: &[u8]) -> Option<[u16; 2]> {
    let flags = *bytes.get(10)?;
    let colours = if flags & 0x80 != 0 { 3 << ((flags & 7) + 1) } else { 0 };
    let mut rest = bytes.get(13 + colours..)?;
    loop {
        let (&kind, after) = rest.split_first()?;
        match kind {
            b',' => {
                let side = |at: usize| Some(u16::from_le_bytes([*after.get(at)?, *after.get(at + 1)?]));
                return Some([side(4)?, side(6)?]);
            }
            // An extension: a label, then blocks that say their length, the last of which is empty.
            b'!' => {
                rest = after.get(1..)?;
                loop {
                    let (&len, block) = rest.split_first()?;
                    rest = block.get(len.into()..)?;
                    if len == 0 {
                        break;
                    }
                }
            }
            _ => return None,
        }
    }
}
