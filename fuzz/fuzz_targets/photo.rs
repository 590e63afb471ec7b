//! A photo of any bytes is decoded or refused, in full and at a reduced size.
#![no_main]

use libfuzzer_sys::fuzz_target;
use nearside_vision::{Photo, PhotoLimits, PhotoOptions};

/// What is allowed: enough for any structure, little enough to be quick.
const MOST_PIXELS: u64 = 1 << 18;
const MOST_DECODER_BYTES: u64 = 64 << 20;

const AT_LEAST: u32 = 16;

fuzz_target!(|bytes: &[u8]| {
    let limits = PhotoLimits {
        max_pixels: MOST_PIXELS,
        max_decoder_bytes: MOST_DECODER_BYTES,
        ..PhotoLimits::default()
    };
    let Ok(full) = Photo::decode_with(bytes, &PhotoOptions { limits, at_least: None }) else { return };
    check(&full);
    let at_least = Some((AT_LEAST, AT_LEAST));
    let reduced = Photo::decode_with(bytes, &PhotoOptions { limits, at_least }).unwrap();
    check(&reduced);
    for (reduced, full) in [(reduced.width(), full.width()), (reduced.height(), full.height())] {
        assert!((full.min(AT_LEAST)..=full).contains(&reduced), "{full} became {reduced}");
    }
});

fn check(photo: &Photo) {
    let pixels = u64::from(photo.width()) * u64::from(photo.height());
    assert!((1..=MOST_PIXELS).contains(&pixels));
    assert_eq!(photo.rgb().len() as u64, 3 * pixels);
    photo.frame().validate().unwrap();
}
