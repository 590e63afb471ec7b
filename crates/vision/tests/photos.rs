//! Photo files: those that decode, and those that are refused. See `reference/generate.py`.

mod common;

use common::{Yuv, difference, raw_spec, read, reference, run};
use nearside_vision::{Error, Filter, Fit, Frame, Photo, PhotoLimits, Range};

fn photo(name: &str) -> Photo {
    Photo::open(reference(&format!("photos/{name}"))).unwrap_or_else(|error| panic!("{name}: {error}"))
}

fn floats(bytes: &[u8]) -> Vec<f32> {
    bytes.iter().map(|&byte| byte.into()).collect()
}

/// Greatest and mean difference from the cup that all files show.
fn from_upright(photo: &Photo) -> (f32, f32) {
    assert_eq!((photo.width(), photo.height()), (60, 40));
    difference(&floats(photo.rgb()), &floats(&read("photos/upright.rgb")))
}

/// Grey repeated in three channels.
fn grey() -> Vec<u8> {
    read("photos/grey.raw").iter().flat_map(|&value| [value; 3]).collect()
}

#[test]
fn all_eight_exif_orientations_come_out_upright() {
    for orientation in 1..=8 {
        let (max, mean) = from_upright(&photo(&format!("exif-{orientation}.jpg")));
        assert!(mean < 2.0 && max < 40.0, "{orientation}: max {max}, mean {mean}");
    }
}

#[test]
fn orientation_is_also_read_from_png_and_webp() {
    for name in ["exif-7.png", "exif-6.webp"] {
        assert_eq!(from_upright(&photo(name)), (0.0, 0.0), "{name}");
    }
}

#[test]
fn an_orientation_that_does_not_exist_is_ignored() {
    assert!(from_upright(&photo("exif-9.jpg")).1 < 2.0);
}

#[test]
fn every_lossy_kind_of_file_shows_the_same_cup() {
    for (name, limit) in [
        ("progressive.jpg", 2.0),
        ("chroma-halved.jpg", 5.0),
        ("cmyk.jpg", 5.0),
        ("palette.png", 8.0),
        ("animated.gif", 8.0),
    ] {
        let (_, mean) = from_upright(&photo(name));
        assert!(mean < limit, "{name}: mean {mean}");
    }
}

#[test]
fn every_lossless_kind_of_file_shows_the_same_bytes() {
    // Alpha is dropped and 16 bits are rounded to 8.
    for name in ["plain.bmp", "lossless.webp", "rgba.png", "rgb-16.png"] {
        assert_eq!(from_upright(&photo(name)), (0.0, 0.0), "{name}");
    }
}

#[test]
fn grey_is_repeated_in_all_channels() {
    for name in ["grey-16.png", "grey-alpha.png"] {
        assert_eq!(photo(name).rgb(), grey(), "{name}");
    }
    assert!(difference(&floats(photo("grey.jpg").rgb()), &floats(&grey())).1 < 2.0);
}

#[test]
fn one_pixel_is_a_photo() {
    let photo = photo("one-pixel.png");
    assert_eq!((photo.width(), photo.height(), photo.rgb()), (1, 1, &[200, 100, 50][..]));
    let out =
        run(raw_spec(3, 2, Fit::CenterCrop { fraction: 0.875 }, Filter::BilinearAntialias), &photo.frame());
    assert!(difference(&out, &floats(&[200, 100, 50].repeat(6))).0 < 1e-3);
}

#[test]
fn the_same_photo_as_a_file_or_as_a_camera_frame_gives_nearly_the_same_tensor() {
    let spec = raw_spec(24, 24, Fit::CenterCrop { fraction: 0.875 }, Filter::BilinearAntialias);
    let upright = run(spec, &photo("lossless.webp").frame());
    for name in ["exif-1.jpg", "exif-6.jpg", "exif-3.jpg", "exif-5.jpg"] {
        let (max, mean) = difference(&run(spec, &photo(name).frame()), &upright);
        assert!(max < 12.0 && mean < 1.5, "{name}: max {max}, mean {mean}");
    }
    // JFIF: BT.601, full range.
    let cup = photo("lossless.webp");
    let yuv = full_range(cup.rgb(), 60, 40);
    let (i420, nv12, nv21) = (yuv.i420(), yuv.semi_planar(false), yuv.semi_planar(true));
    let frames = [
        Frame::i420(&i420, 60, 40, None).unwrap(),
        Frame::nv12(&nv12, 60, 40, None).unwrap(),
        Frame::nv21(&nv21, 60, 40, None).unwrap(),
    ];
    for frame in frames {
        let (max, mean) = difference(&run(spec, &Frame { range: Range::Full, ..frame }), &upright);
        assert!(max < 20.0 && mean < 2.0, "max {max}, mean {mean}");
    }
}

/// RGB to YUV 4:2:0 as JPEG does it; ITU-T T.871 section 7.
fn full_range(rgb: &[u8], width: usize, height: usize) -> Yuv {
    let at = |x: usize, y: usize| [0, 1, 2].map(|channel| f32::from(rgb[(y * width + x) * 3 + channel]));
    let luma = |[r, g, b]: [f32; 3]| 0.299 * r + 0.587 * g + 0.114 * b;
    let mut planes = [vec![], vec![], vec![]];
    for y in 0..height {
        planes[0].extend((0..width).map(|x| luma(at(x, y)).round() as u8));
    }
    for y in (0..height).step_by(2) {
        for x in (0..width).step_by(2) {
            let four = [at(x, y), at(x + 1, y), at(x, y + 1), at(x + 1, y + 1)];
            let mean = [0, 1, 2].map(|channel| four.iter().map(|pixel| pixel[channel]).sum::<f32>() / 4.0);
            planes[1].push((128.0 + (mean[2] - luma(mean)) / 1.772).round() as u8);
            planes[2].push((128.0 + (mean[0] - luma(mean)) / 1.402).round() as u8);
        }
    }
    Yuv { width: width as u32, height: height as u32, planes }
}

#[test]
fn a_file_cut_short_anywhere_is_an_error() {
    for name in ["exif-1.jpg", "progressive.jpg", "rgba.png", "lossless.webp", "animated.gif", "plain.bmp"] {
        let bytes = read(&format!("photos/{name}"));
        // An animation is whole once its first picture is.
        let whole = if name == "animated.gif" { bytes.len() / 3 } else { bytes.len() - 20 };
        for len in (0..whole).step_by(37) {
            let error = Photo::decode(&bytes[..len]).map(|photo| format!("{photo:?}")).unwrap_err();
            assert!(
                matches!(error, Error::CorruptPhoto { .. } | Error::NotAPhoto { .. }),
                "{name}, {len} bytes: {error}"
            );
        }
    }
}

#[test]
fn a_damaged_jpeg_is_an_error() {
    let mut bytes = read("photos/exif-1.jpg");
    let middle = bytes.len() / 2;
    bytes[middle..].iter_mut().enumerate().for_each(|(at, byte)| *byte = (at * 89 % 251) as u8);
    let error = Photo::decode(&bytes).unwrap_err();
    assert!(matches!(error, Error::CorruptPhoto { format: "JPEG", .. }), "{error}");
    let mut bytes = read("photos/exif-1.jpg");
    bytes[3..].fill(0);
    assert!(matches!(Photo::decode(&bytes), Err(Error::CorruptPhoto { format: "JPEG", .. })));
}

#[test]
fn a_damaged_file_never_panics() {
    for name in [
        "exif-6.jpg",
        "progressive.jpg",
        "cmyk.jpg",
        "palette.png",
        "exif-6.webp",
        "animated.gif",
        "plain.bmp",
    ] {
        let bytes = read(&format!("photos/{name}"));
        let mut state = 12_345_u32;
        for _ in 0..200 {
            let mut damaged = bytes.clone();
            for _ in 0..5 {
                state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
                let at = (state >> 8) as usize % damaged.len();
                damaged[at] = state as u8;
            }
            // Either way is right, as long as it comes back; limits keep a damaged size from costing memory.
            let limits = PhotoLimits { max_pixels: 100_000, ..PhotoLimits::default() };
            if let Ok(photo) = Photo::decode_with(&damaged, &limits) {
                photo.frame().validate().unwrap();
            }
        }
    }
}

#[test]
fn text_and_nothing_are_not_photos() {
    for bytes in [&b"this is no photo, whatever its name says"[..], b"", b"\0"] {
        let error = Photo::decode(bytes).unwrap_err();
        assert!(matches!(error, Error::NotAPhoto { bytes: len } if len == bytes.len()), "{error}");
        assert!(error.hint().contains("JPEG"), "{error}");
    }
}

#[test]
fn heic_and_avif_are_named_and_refused() {
    for (brands, name) in [
        (&b"heic\0\0\0\0mif1heic"[..], "HEIC"),
        (b"mif1\0\0\0\0mif1heic", "HEIC"),
        (b"mif1\0\0\0\0mif1avif", "AVIF"),
        (b"avif\0\0\0\0avifmif1", "AVIF"),
    ] {
        let file = [&[0, 0, 0, 24][..], b"ftyp", brands, b"\0\0\0\x08meta"].concat();
        let error = Photo::decode(&file).unwrap_err();
        assert!(matches!(error, Error::UnsupportedPhoto { format } if format == name), "{error}");
        assert!(error.hint().contains("convert it to JPEG"), "{error}");
        // However short.
        for len in 8..file.len() {
            assert!(matches!(Photo::decode(&file[..len]), Err(Error::UnsupportedPhoto { .. })));
        }
    }
}

#[test]
fn a_decompression_bomb_is_refused_before_it_is_decoded() {
    let bomb = read("photos/bomb.png");
    let error = Photo::decode(&bomb).unwrap_err();
    assert!(matches!(error, Error::PhotoTooLarge { has: 900_000_000, .. }), "{error}");
}

#[test]
fn limits_of_the_callers_hold() {
    let bytes = read("photos/exif-1.jpg");
    let limits = PhotoLimits::default();
    assert!(Photo::decode_with(&bytes, &PhotoLimits { max_pixels: 2400, ..limits }).is_ok());
    for limits in [
        PhotoLimits { max_pixels: 2399, ..limits },
        PhotoLimits { max_file_bytes: 100, ..limits },
        PhotoLimits { max_decoder_bytes: 7199, ..limits },
    ] {
        let error = Photo::decode_with(&bytes, &limits).unwrap_err();
        assert!(matches!(error, Error::PhotoTooLarge { .. }), "{limits:?}: {error}");
    }
}

#[test]
fn a_file_that_cannot_be_read_is_named() {
    let error = Photo::open("no/such/photo.jpg").unwrap_err();
    assert!(matches!(error, Error::Io { .. }));
    assert!(error.to_string().contains("no/such/photo.jpg"), "{error}");
}

#[test]
fn pixels_that_are_already_rgb_make_a_photo() {
    let photo = Photo::from_rgb(vec![1; 12], 2, 2).unwrap();
    assert_eq!((photo.width(), photo.height()), (2, 2));
    assert!(matches!(
        Photo::from_rgb(vec![1; 11], 2, 2),
        Err(Error::PlaneTooShort { has: 11, needs: 12, .. })
    ));
    assert!(matches!(Photo::from_rgb(vec![], 0, 2), Err(Error::EmptyFrame { .. })));
}
