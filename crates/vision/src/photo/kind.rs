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
        } else if let Some(format) = named(bytes) {
            Self::Unsupported(format)
        } else if bytes.get(4..8) == Some(b"ftyp") {
            of_iso_media(bytes)
        } else {
            Self::Unknown
        }
    }
}

/// Formats that are known by their first bytes alone.
fn named(bytes: &[u8]) -> Option<&'static str> {
    const RAW: &str = "TIFF or a camera's raw file";
    let formats: [(&[u8], &str); 20] = [
        (b"II*\0", RAW),
        (b"MM\0*", RAW),
        (b"II+\0", RAW),
        (b"MM\0+", RAW),
        (b"IIU\0", RAW),
        (b"IIRO", RAW),
        (b"IIRS", RAW),
        (b"FUJIFILMCCD-RAW", RAW),
        (b"\xff\x0a", "JPEG XL"),
        (b"\0\0\0\x0cJXL \r\n\x87\n", "JPEG XL"),
        (b"\0\0\0\x0cjP  \r\n\x87\n", "JPEG 2000"),
        (b"\xff\x4f\xff\x51", "JPEG 2000"),
        (b"II\xbc\x01", "JPEG XR"),
        (b"8BPS", "a Photoshop document"),
        (b"\0\0\x01\0", "an icon"),
        (b"v/1\x01", "OpenEXR"),
        (b"#?RADIANCE", "Radiance HDR"),
        (b"qoif", "QOI"),
        (b"%PDF-", "a PDF document"),
        (b"<svg", "SVG"),
    ];
    formats.iter().find(|(magic, _)| bytes.starts_with(magic)).map(|&(_, format)| format)
}

/// HEIC, AVIF or a video, by the brands in the file type box (ISO/IEC 14496-12 section 4.3): the major brand, a
/// version, then the compatible brands.
fn of_iso_media(bytes: &[u8]) -> Kind {
    let size = bytes.first_chunk().map_or(0, |&size| u32::from_be_bytes(size) as usize);
    let (start, end) = match size {
        // Up to the end of the file.
        0 => (8, bytes.len()),
        // The size follows in 64 bits; brands are near in any case.
        1 => (16, bytes.len()),
        size => (8, size.min(bytes.len())),
    };
    let brands = bytes.get(start..end).unwrap_or(&[]).chunks_exact(4).take(64);
    let has = |names: &[&[u8; 4]]| brands.clone().any(|brand| names.iter().any(|name| brand == *name));
    if has(&[b"avif", b"avis", b"avio", b"MA1A", b"MA1B"]) {
        Kind::Unsupported("AVIF")
    } else if has(&[b"heic", b"heix", b"heim", b"heis", b"hevc", b"hevx", b"hevm", b"hevs"]) {
        Kind::Unsupported("HEIC")
    } else if has(&[b"crx "]) {
        Kind::Unsupported("a camera's raw file")
    } else if has(&[b"mif1", b"mif2", b"msf1", b"miaf"]) {
        Kind::Unsupported("HEIC")
    } else {
        Kind::Unsupported("a video or another ISO media file")
    }
}
