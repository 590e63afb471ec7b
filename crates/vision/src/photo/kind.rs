//! What kind of image file it is, by its first bytes.

use image::ImageFormat;

/// A kind of image file.
pub(super) enum Kind {
    /// One that is decoded here.
    Decoded(ImageFormat, &'static str),
    /// One that is only known by name.
    Unsupported(&'static str),
    /// Anything else.
    Unknown,
}

impl Kind {
    pub(super) fn of(bytes: &[u8]) -> Self {
        let starts = |magic: &[u8]| bytes.starts_with(magic);
        if starts(b"\xff\xd8\xff") {
            Self::Decoded(ImageFormat::Jpeg, "JPEG")
        } else if starts(b"\x89PNG\r\n\x1a\n") {
            Self::Decoded(ImageFormat::Png, "PNG")
        } else if starts(b"GIF87a") || starts(b"GIF89a") {
            Self::Decoded(ImageFormat::Gif, "GIF")
        } else if starts(b"RIFF") && bytes.get(8..12) == Some(b"WEBP") {
            Self::Decoded(ImageFormat::WebP, "WebP")
        } else if starts(b"BM") {
            Self::Decoded(ImageFormat::Bmp, "BMP")
        } else if starts(b"II*\0") || starts(b"MM\0*") {
            Self::Unsupported("TIFF or a camera's raw file")
        } else if starts(b"\xff\x0a") || starts(b"\0\0\0\x0cJXL \r\n\x87\n") {
            Self::Unsupported("JPEG XL")
        } else if starts(b"\0\0\0\x0cjP  \r\n\x87\n") {
            Self::Unsupported("JPEG 2000")
        } else if bytes.get(4..8) == Some(b"ftyp") {
            of_iso_media(bytes)
        } else {
            Self::Unknown
        }
    }
}

/// HEIC, AVIF or a video, by the brands in the file type box (ISO/IEC 14496-12 section 4.3): the major brand, a
/// version, then the compatible brands.
fn of_iso_media(bytes: &[u8]) -> Kind {
    let box_end = bytes.first_chunk().map_or(0, |&size| u32::from_be_bytes(size) as usize);
    let brands = bytes.get(8..box_end.min(bytes.len())).unwrap_or(&[]).chunks_exact(4);
    let has = |names: &[&[u8; 4]]| brands.clone().any(|brand| names.iter().any(|name| brand == *name));
    if has(&[b"avif", b"avis"]) {
        Kind::Unsupported("AVIF")
    } else if has(&[b"heic", b"heix", b"heim", b"heis", b"hevc", b"hevx", b"mif1", b"msf1"]) {
        Kind::Unsupported("HEIC")
    } else {
        Kind::Unsupported("a video or another ISO media file")
    }
}
