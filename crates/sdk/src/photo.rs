//! Decoded photos.

use std::path::PathBuf;
use std::sync::Arc;

use nearside_pipeline::vision;

use crate::{Cancellation, Result, background};

/// A decoded photo, 8-bit RGB and upright by its EXIF orientation. It can be classified any number of times.
#[derive(Debug, uniffi::Object)]
pub struct Photo {
    pub(crate) inner: Arc<vision::Photo>,
}

/// Decodes the bytes of a JPEG, PNG, WebP, GIF or BMP file, which are not copied.
///
/// Blocks for as long as decoding takes, some ten milliseconds for a camera's photo: call it off the main thread.
///
/// # Errors
/// [`NearsideError::InvalidInput`](crate::NearsideError::InvalidInput) if the bytes are no such file, damaged or too
/// large.
#[uniffi::export]
pub fn decode_photo(bytes: &[u8]) -> Result<Arc<Photo>> {
    Ok(Photo::of(vision::Photo::decode(bytes)?))
}

/// Reads and decodes an image file on a background thread.
///
/// # Errors
/// [`NearsideError::InvalidInput`](crate::NearsideError::InvalidInput) if it can't be read, is no such file, damaged or
/// too large; [`NearsideError::Cancelled`](crate::NearsideError::Cancelled).
#[uniffi::export]
pub async fn open_photo(path: String, cancellation: Option<Arc<Cancellation>>) -> Result<Arc<Photo>> {
    let opened = background::run(move || Ok(Photo::of(vision::Photo::open(PathBuf::from(path))?)));
    Cancellation::or(cancellation.as_deref(), opened).await
}

#[uniffi::export]
impl Photo {
    /// Width in pixels, upright.
    #[must_use]
    pub fn width(&self) -> i32 {
        // Limits on photos keep both sides far below.
        i32::try_from(self.inner.width()).unwrap_or(i32::MAX)
    }

    /// Height in pixels, upright.
    #[must_use]
    pub fn height(&self) -> i32 {
        i32::try_from(self.inner.height()).unwrap_or(i32::MAX)
    }
}

impl Photo {
    fn of(photo: vision::Photo) -> Arc<Self> {
        Arc::new(Self { inner: Arc::new(photo) })
    }
}
