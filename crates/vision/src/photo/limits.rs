//! Limits against files that are small but decode to something huge.

use crate::{Error, Result};

/// How much a photo may ask for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PhotoLimits {
    /// Most bytes in a file.
    pub max_file_bytes: u64,
    /// Most pixels in a picture.
    pub max_pixels: u64,
    /// Most bytes that a decoder may allocate, its pixels included, as far as it can tell beforehand.
    pub max_decoder_bytes: u64,
}

impl Default for PhotoLimits {
    /// Files of 256 MiB and pictures of 128 megapixels with 1 GiB to decode them in: above what phone cameras write.
    fn default() -> Self {
        Self { max_file_bytes: 256 << 20, max_pixels: 128_000_000, max_decoder_bytes: 1 << 30 }
    }
}

impl PhotoLimits {
    pub(super) fn check_file(&self, bytes: u64) -> Result<()> {
        check("file in bytes", bytes, self.max_file_bytes)
    }

    pub(super) fn check_picture(&self, width: u64, height: u64, decoded_bytes: u64) -> Result<()> {
        check("size in pixels", width.saturating_mul(height), self.max_pixels)?;
        check("memory to decode in bytes", decoded_bytes, self.max_decoder_bytes)
    }

    /// For a decoder that stopped at the limit without saying what it would have needed.
    pub(super) fn too_much_memory(&self) -> Error {
        let limit = self.max_decoder_bytes;
        Error::PhotoTooLarge { what: "memory to decode in bytes", has: limit.saturating_add(1), limit }
    }
}

fn check(what: &'static str, has: u64, limit: u64) -> Result<()> {
    if has > limit { Err(Error::PhotoTooLarge { what, has, limit }) } else { Ok(()) }
}
