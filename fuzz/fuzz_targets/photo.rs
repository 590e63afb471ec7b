//! A photo of any bytes is decoded or refused.
#![no_main]

use libfuzzer_sys::fuzz_target;
use nearside_vision::{Photo, PhotoLimits};

/// What is allowed: enough for any structure, little enough to be quick.
const MOST_PIXELS: u64 = 1 << 18;

fuzz_target!(|bytes: &[u8]| {
    let limits = PhotoLimits { max_pixels: MOST_PIXELS, ..PhotoLimits::default() };
    if let Ok(photo) = Photo::decode_with(bytes, &limits) {
        let pixels = u64::from(photo.width()) * u64::from(photo.height());
        assert!((1..=MOST_PIXELS).contains(&pixels));
        assert_eq!(photo.rgb().len() as u64, 3 * pixels);
        photo.frame().validate().unwrap();
    }
});
