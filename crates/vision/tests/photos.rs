//! Photo files: those that decode, and those that are refused. See `reference/generate.py`.

mod common;

use common::{Yuv, difference, raw_spec, read, reference, run};
use nearside_vision::{Error, Filter, Fit, Frame, Photo, PhotoLimits, PhotoOptions, Range, Rotation};

fn photo(name: &str) -> Photo {
    Photo::open(reference(&format!("photos/{name}"))).unwrap_or_else(|error| panic!("{name}: {error}"))
}

fn floats(bytes: &[u8]) -> Vec<f32> {
    bytes.iter().map(|&byte| byte.into()).collect()
}

/// Greatest and mean difference from the cup that all files show.
fn from_upright(photo: &Photo) -> (f32, f32) {
    assert_eq!((photo.width(), photo.height()), (60, 40));
    difference(&floats(&photo.rgb()), &floats(&read("photos/upright.rgb")))
}

/// Grey repeated in three channels.
fn grey() -> Vec<u8> {
    read("photos/grey.raw").iter().flat_map(|&value| [value; 3]).collect()
}

/// In full, or at least so large.
fn options(at_least: Option<(u32, u32)>) -> PhotoOptions {
    PhotoOptions { at_least, ..PhotoOptions::default() }
}

/// With limits of the test's.
fn within(limits: PhotoLimits) -> PhotoOptions {
    PhotoOptions { limits, ..PhotoOptions::default() }
}

#[test]
fn every_file_gives_the_bytes_that_other_libraries_give() {
    let expected = String::from_utf8(read("photos/expected.tsv")).unwrap();
    assert!(expected.lines().count() > 100);
    for line in expected.lines() {
        let fields: Vec<_> = line.split('\t').collect();
        let [name, part, width, height, crc] = fields[..] else { panic!("{line}") };
        let size = (width.parse().unwrap(), height.parse().unwrap());
        let options = options((part != "1").then_some(size));
        let photo = Photo::open_with(reference(&format!("photos/{name}")), &options)
            .unwrap_or_else(|error| panic!("{line}: {error}"));
        assert_eq!((photo.width(), photo.height()), size, "{line}");
        assert_eq!(format!("{:08x}", crc32fast::hash(&photo.rgb())), crc, "{line}");
    }
}

#[test]
fn all_eight_exif_orientations_come_out_upright() {
    for orientation in 1..=8 {
        let (max, mean) = from_upright(&photo(&format!("exif-{orientation}.jpg")));
        assert!(mean < 2.0 && max < 40.0, "{orientation}: max {max}, mean {mean}");
        for kind in ["png", "webp"] {
            let photo = photo(&format!("exif-{orientation}.{kind}"));
            assert_eq!(from_upright(&photo), (0.0, 0.0), "{orientation}, {kind}");
        }
    }
}

#[test]
fn an_orientation_after_the_pixels_of_a_png_is_read() {
    let bytes = read("photos/exif-6.png");
    let exif = bytes.windows(4).position(|four| four == b"eXIf").unwrap() - 4;
    let len = 12 + u32::from_be_bytes(*bytes[exif..].first_chunk().unwrap()) as usize;
    let mut moved = bytes.clone();
    let chunk: Vec<u8> = moved.drain(exif..exif + len).collect();
    let end = moved.len() - 12;
    moved.splice(end..end, chunk);
    assert_eq!(Photo::decode(&moved).unwrap(), photo("exif-6.png"));
}

#[test]
fn a_turned_photo_gives_the_tensor_of_an_upright_one() {
    for filter in [Filter::Bilinear, Filter::BilinearAntialias] {
        let spec = raw_spec(24, 20, Fit::Letterbox { pad: [9, 8, 7] }, filter);
        for orientation in 1..=8 {
            for kind in ["jpg", "png", "webp"] {
                let photo = photo(&format!("exif-{orientation}.{kind}"));
                let upright =
                    Photo::from_rgb(photo.rgb().into_owned(), photo.width(), photo.height()).unwrap();
                let (max, _) = difference(&run(spec, &photo.frame()), &run(spec, &upright.frame()));
                // Rows and columns may be resized in another order, with rounding between.
                assert!(max < 1.5, "{orientation}, {kind}: {max}");
            }
        }
    }
}

#[test]
fn a_photo_is_not_turned_until_its_pixels_are_asked_for() {
    let photo = photo("exif-7.jpg");
    let frame = photo.frame();
    assert_eq!((photo.width(), photo.height()), (60, 40));
    assert_eq!((frame.width, frame.height, frame.rotation, frame.mirror), (40, 60, Rotation::R270, true));
}

#[test]
fn a_jpeg_is_reduced_as_far_as_it_stays_large_enough() {
    for (name, at_least, size) in [
        ("exif-1.jpg", (60, 40), (60, 40)),
        ("exif-1.jpg", (61, 1), (60, 40)),
        ("exif-1.jpg", (31, 1), (60, 40)),
        ("exif-1.jpg", (30, 20), (30, 20)),
        ("exif-1.jpg", (15, 11), (30, 20)),
        ("exif-1.jpg", (15, 10), (15, 10)),
        ("exif-1.jpg", (1, 1), (8, 5)),
        ("exif-1.jpg", (0, 0), (8, 5)),
        // Upright: the file has 40x60.
        ("exif-6.jpg", (30, 20), (30, 20)),
        ("exif-6.jpg", (20, 30), (60, 40)),
        ("progressive.jpg", (15, 10), (15, 10)),
        ("cmyk.jpg", (15, 10), (15, 10)),
        // Nothing but JPEG is reduced.
        ("rgba.png", (1, 1), (60, 40)),
        ("lossless.webp", (1, 1), (60, 40)),
    ] {
        let photo = Photo::decode_with(&read(&format!("photos/{name}")), &options(Some(at_least))).unwrap();
        assert_eq!((photo.width(), photo.height()), size, "{name}, at least {at_least:?}");
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
    // Alpha is dropped, and so are the lower 8 of 16 bits.
    for name in ["plain.bmp", "lossless.webp", "rgba.png", "rgb-16.png", "rgba-16.png", "interlaced.png"] {
        assert_eq!(from_upright(&photo(name)), (0.0, 0.0), "{name}");
    }
}

#[test]
fn grey_is_repeated_in_all_channels() {
    for name in ["grey-16.png", "grey-alpha.png"] {
        assert_eq!(*photo(name).rgb(), *grey(), "{name}");
    }
    assert!(difference(&floats(&photo("grey.jpg").rgb()), &floats(&grey())).1 < 2.0);
}

#[test]
fn one_pixel_is_a_photo() {
    let photo = photo("one-pixel.png");
    assert_eq!((photo.width(), photo.height(), &*photo.rgb()), (1, 1, &[200, 100, 50][..]));
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
    let yuv = full_range(&cup.rgb(), 60, 40);
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

/// Where the segment with a marker begins.
fn segment(bytes: &[u8], marker: u8) -> usize {
    let mut at = 2;
    while bytes[at + 1] != marker {
        at += 2 + usize::from(u16::from_be_bytes([bytes[at + 2], bytes[at + 3]]));
    }
    at
}

/// Where the first scan's data begin.
fn scan_data(bytes: &[u8]) -> usize {
    let at = segment(bytes, 0xda);
    at + 2 + usize::from(u16::from_be_bytes([bytes[at + 2], bytes[at + 3]]))
}

#[test]
fn a_jpeg_whose_scan_is_mostly_missing_is_an_error_though_it_has_an_end() {
    for name in ["exif-1.jpg", "chroma-halved.jpg", "progressive.jpg", "restarts.jpg", "grey.jpg", "cmyk.jpg"]
    {
        let bytes = read(&format!("photos/{name}"));
        for part in [0, 1, 2, 5, 9] {
            let data = scan_data(&bytes);
            let cut = data + (bytes.len() - data) * part / 10;
            let file = [&bytes[..cut], &[0xff, 0xd9]].concat();
            let error = Photo::decode(&file).map(|photo| format!("{photo:?}")).unwrap_err();
            assert!(matches!(error, Error::CorruptPhoto { format: "JPEG", .. }), "{name}, {part}: {error}");
        }
    }
}

#[test]
fn a_jpeg_with_bytes_that_belong_to_nothing_is_read_if_they_are_few() {
    let bytes = read("photos/exif-1.jpg");
    let whole = photo("exif-1.jpg");
    let end = bytes.len() - 2;
    for (padding, is_read) in [(1, true), (12, true), (400, false)] {
        let file = [&bytes[..end], &vec![0; padding], &bytes[end..]].concat();
        assert_eq!(Photo::decode(&file).is_ok_and(|photo| photo == whole), is_read, "{padding}");
    }
    // After the end, phones keep whole films.
    assert_eq!(Photo::decode(&[&bytes[..], &[1; 5000]].concat()).unwrap(), whole);
}

#[test]
fn a_restart_marker_that_is_missing_or_out_of_turn_is_an_error() {
    let bytes = read("photos/restarts.jpg");
    let is_restart = |two: &[u8]| two[0] == 0xff && (0xd0..0xd8).contains(&two[1]);
    let at: Vec<_> = (0..bytes.len() - 1).filter(|&at| is_restart(&bytes[at..])).collect();
    assert!(at.len() > 3);
    let mut swapped = bytes.clone();
    swapped[at[1] + 1] = bytes[at[2] + 1];
    let missing = [&bytes[..at[1]], &bytes[at[1] + 2..]].concat();
    for file in [swapped, missing] {
        assert!(matches!(Photo::decode(&file), Err(Error::CorruptPhoto { format: "JPEG", .. })));
    }
}

#[test]
fn the_frames_of_a_motion_jpeg_camera_need_no_huffman_tables() {
    let bytes = read("photos/chroma-halved.jpg");
    let mut bare = bytes.clone();
    while bare[..scan_data(&bare)].windows(2).any(|two| two == [0xff, 0xc4]) {
        let at = segment(&bare, 0xc4);
        let length = usize::from(u16::from_be_bytes([bare[at + 2], bare[at + 3]]));
        bare.drain(at..at + 2 + length);
    }
    assert!(bare.len() < bytes.len() - 400);
    assert_eq!(Photo::decode(&bare).unwrap(), photo("chroma-halved.jpg"));
}

#[test]
fn kinds_of_jpeg_that_are_not_decoded_are_named() {
    let bytes = read("photos/exif-1.jpg");
    let frame = segment(&bytes, 0xc0);
    for (offset, value, name) in [
        (1, 0xc9, "arithmetic-coded JPEG"),
        (1, 0xca, "arithmetic-coded JPEG"),
        (1, 0xc3, "lossless JPEG"),
        (1, 0xc5, "hierarchical JPEG"),
        (1, 0xf7, "JPEG-LS"),
        (4, 12, "JPEG of more or fewer than 8 bits"),
    ] {
        let mut file = bytes.clone();
        file[frame + offset] = value;
        let error = Photo::decode(&file).unwrap_err();
        assert!(matches!(error, Error::UnsupportedPhoto { format } if format == name), "{error}");
    }
}

#[test]
fn the_memory_of_a_progressive_jpeg_is_counted_before_it_is_taken() {
    let mut bytes = read("photos/progressive.jpg");
    let frame = segment(&bytes, 0xc2);
    // 11313x11313 is within the limit of pixels; all coefficients of it in 16 bits are 768 MB.
    bytes[frame + 5..frame + 9].copy_from_slice(&[0x2c, 0x31, 0x2c, 0x31]);
    let is_too_much = |error: &Error| {
        matches!(
            error,
            Error::PhotoTooLarge { what: "memory to decode in bytes", has: 1_150_000_000..1_210_000_000, .. }
        )
    };
    let error = Photo::decode(&bytes).unwrap_err();
    assert!(is_too_much(&error), "{error}");
    // Of a reduced one, only the picture itself takes less.
    let reduced = Photo::decode_with(&bytes, &options(Some((512, 512)))).unwrap_err();
    assert!(matches!(reduced, Error::CorruptPhoto { .. }), "{reduced}");
    // A scan of one component before the rest.
    bytes[frame + 1] = 0xc0;
    let scan = segment(&bytes, 0xda);
    bytes.splice(scan.., [0xff, 0xda, 0, 8, 1, 1, 0, 0, 63, 0, 0xff, 0xd9]);
    let error = Photo::decode(&bytes).unwrap_err();
    assert!(is_too_much(&error), "{error}");
}

/// A progressive grey JPEG of one block, with these scans: first and last coefficient, bits, data.
fn one_block(scans: &[(u8, u8, u8, u8)]) -> Vec<u8> {
    let mut file = vec![0xff, 0xd8, 0xff, 0xdb, 0, 67, 0];
    file.extend([1; 64]);
    file.extend([0xff, 0xc2, 0, 11, 8, 0, 8, 0, 8, 1, 1, 0x11, 0]);
    for &(first, last, bits, data) in scans {
        file.extend([0xff, 0xda, 0, 8, 1, 1, 0, first, last, bits, data]);
    }
    file.extend([0xff, 0xd9]);
    file
}

/// No difference, and the end of a block, in the standard tables.
const SAME: u8 = 0b0011_1111;
const END: u8 = 0b1010_1111;

#[test]
fn a_jpeg_of_thousands_of_scans_is_refused() {
    let whole = [(0, 0, 0, SAME), (1, 63, 0, END)];
    assert_eq!(*Photo::decode(&one_block(&whole)).unwrap().rgb(), [128; 192]);
    // Each coefficient on its own, bit by bit: nothing is wrong with it but the number.
    let first = (1..=63).map(|at| (at, at, 0x01, END));
    let next = (1..=63).map(|at| (at, at, 0x10, END));
    let many: Vec<_> = [(0, 0, 0, SAME)].into_iter().chain(first).chain(next).collect();
    let error = Photo::decode(&one_block(&many)).unwrap_err();
    assert!(matches!(error, Error::PhotoTooLarge { what: "number of scans", limit: 100, .. }), "{error}");
}

#[test]
fn scans_that_repeat_skip_or_leave_out_something_are_an_error() {
    for scans in [
        &[(0, 0, 0, SAME), (1, 63, 0, END), (1, 63, 0, END)][..],
        &[(0, 0, 0, SAME), (0, 0, 0, SAME)],
        &[(1, 63, 0, END), (0, 0, 0, SAME)],
        &[(0, 0, 0, SAME)],
        &[(0, 0, 0, SAME), (1, 62, 0, END)],
        &[(0, 0, 1, SAME), (1, 63, 0, END)],
        &[(0, 0, 0x10, SAME), (1, 63, 0, END)],
        &[(0, 0, 0, SAME), (1, 63, 2, END), (1, 63, 0x10, END)],
        &[(0, 63, 0, SAME)],
        &[(0, 0, 0, SAME), (5, 4, 0, END)],
        &[(0, 0, 0, SAME), (1, 64, 0, END)],
    ] {
        let error = Photo::decode(&one_block(scans)).unwrap_err();
        assert!(matches!(error, Error::CorruptPhoto { format: "JPEG", .. }), "{scans:?}: {error}");
    }
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
            if let Ok(photo) = Photo::decode_with(&damaged, &within(limits)) {
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
        (b"avis\0\0\0\0msf1avis", "AVIF"),
        (b"mif1\0\0\0\0miafMA1B", "AVIF"),
        (b"msf1\0\0\0\0hevcmsf1", "HEIC"),
        (b"heix\0\0\0\0mif1heix", "HEIC"),
        (b"hevx\0\0\0\0hevx    ", "HEIC"),
        (b"mif2\0\0\0\0mif1miaf", "HEIC"),
        (b"crx \0\0\0\x01crx isom", "a camera's raw file"),
        (b"mp42\0\0\0\0isommp42", "a video or another ISO media file"),
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
fn a_file_type_box_of_unknown_or_long_size_still_names_the_format() {
    for size in [&[0, 0, 0, 0][..], &[0, 0, 0, 1]] {
        let long = if size[3] == 1 { &[0, 0, 0, 0, 0, 0, 0, 32][..] } else { &[] };
        let file = [size, b"ftyp", long, b"heic\0\0\0\0mif1heic"].concat();
        assert!(matches!(Photo::decode(&file), Err(Error::UnsupportedPhoto { format: "HEIC" })));
    }
}

#[test]
fn other_formats_are_named_and_refused() {
    for (start, name) in [
        (&b"II*\0"[..], "TIFF or a camera's raw file"),
        (b"MM\0+", "TIFF or a camera's raw file"),
        (b"\xff\x0a", "JPEG XL"),
        (b"\0\0\0\x0cjP  \r\n\x87\n", "JPEG 2000"),
        (b"\xff\x4f\xff\x51", "JPEG 2000"),
        (b"8BPS", "a Photoshop document"),
        (b"%PDF-1.7", "a PDF document"),
    ] {
        let error = Photo::decode(&[start, &[0; 40]].concat()).unwrap_err();
        assert!(matches!(error, Error::UnsupportedPhoto { format } if format == name), "{error}");
    }
}

#[test]
fn a_decompression_bomb_is_refused_before_it_is_decoded() {
    let bomb = read("photos/bomb.png");
    let error = Photo::decode(&bomb).unwrap_err();
    assert!(matches!(error, Error::PhotoTooLarge { has: 900_000_000, .. }), "{error}");
}

#[test]
fn a_gif_whose_first_image_is_far_larger_than_its_screen_takes_no_memory_for_it() {
    let mut bytes = read("photos/animated.gif");
    let control = bytes.windows(3).position(|three| three == b"\x21\xf9\x04").unwrap();
    assert_eq!(bytes[control + 8], b',');
    bytes[control + 13..control + 17].fill(0xff);
    let error = Photo::decode(&bytes).unwrap_err();
    assert!(matches!(error, Error::PhotoTooLarge { has: 4_294_836_225, .. }), "{error}");
}

#[test]
fn metadata_that_claim_to_be_long_cost_no_memory() {
    let mut bytes = read("photos/exif-6.webp");
    let exif = bytes.windows(4).position(|four| four == b"EXIF").unwrap();
    bytes[exif + 4..exif + 8].copy_from_slice(&[0xf0, 0xff, 0xff, 0xff]);
    // Four gigabytes, were they allocated. The picture itself is whole.
    assert!(Photo::decode(&bytes).is_ok_and(|photo| (photo.width(), photo.height()) == (40, 60)));
}

#[test]
fn limits_of_the_callers_hold() {
    let bytes = read("photos/exif-1.jpg");
    let limits = PhotoLimits::default();
    assert!(Photo::decode_with(&bytes, &within(PhotoLimits { max_pixels: 2400, ..limits })).is_ok());
    for limits in [
        PhotoLimits { max_pixels: 2399, ..limits },
        PhotoLimits { max_file_bytes: 100, ..limits },
        PhotoLimits { max_decoder_bytes: 7199, ..limits },
    ] {
        let error = Photo::decode_with(&bytes, &within(limits)).unwrap_err();
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
