//! Decoded photos.

use std::path::PathBuf;
use std::sync::{Arc, PoisonError, RwLock};

use nearside_pipeline::vision;

use crate::classification::count;
use crate::{Cancellation, NearsideError, Result, background};

/// A decoded photo, 8-bit RGB and upright by its EXIF orientation. It can be classified any number of times.
#[derive(Debug, uniffi::Object)]
pub struct Photo {
    width: i32,
    height: i32,
    /// Emptied by closing.
    pixels: RwLock<Option<Arc<vision::Photo>>>,
}

/// Decodes the bytes of a JPEG, PNG, WebP, GIF or BMP file, which are not copied.
///
/// Blocks for as long as decoding takes, some ten milliseconds for a camera's photo: call it off the main thread.
///
/// # Errors
/// [`NearsideError::InvalidInput`] if the bytes are no such file, damaged or too
/// large.
#[uniffi::export]
pub fn decode_photo(bytes: &[u8]) -> Result<Arc<Photo>> {
    Ok(Photo::of(vision::Photo::decode(bytes)?))
}

/// Reads and decodes an image file on a background thread.
///
/// # Errors
/// [`NearsideError::InvalidInput`] if it can't be read, is no such file, damaged or
/// too large; [`NearsideError::Cancelled`].
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
        self.width
    }

    /// Height in pixels, upright.
    #[must_use]
    pub fn height(&self) -> i32 {
        self.height
    }

    /// Frees the pixels, as soon as what uses them is done. Closing again changes nothing.
    pub fn shut_down(&self) {
        self.pixels.write().unwrap_or_else(PoisonError::into_inner).take();
    }
}

impl Photo {
    fn of(photo: vision::Photo) -> Arc<Self> {
        let (width, height) = (count(photo.width()), count(photo.height()));
        Arc::new(Self { width, height, pixels: RwLock::new(Some(Arc::new(photo))) })
    }

    pub(crate) fn pixels(&self) -> Result<Arc<vision::Photo>> {
        let pixels = self.pixels.read().unwrap_or_else(PoisonError::into_inner);
        pixels.clone().ok_or_else(|| NearsideError::closed("photo"))
    }
}
