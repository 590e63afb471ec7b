//! Tensors against values that Pillow, OpenCV and numpy computed. See `reference/generate.py`.

mod common;

use common::{Yuv, difference, noise_rgb, read, rect, wave_rgb};
use nearside_vision::{
    BufferLayout, Channels, ChromaSiting, Filter, Fit, ImageSpec, Matrix, Preprocessor, Range, Rect, Rotation,
};

/// One row of `cases.tsv`.
struct Case {
    name: String,
    source: String,
    size: (u32, u32),
    crop: Option<Rect>,
    rotation: Rotation,
    mirror: bool,
    matrix: Matrix,
    range: Range,
    siting: ChromaSiting,
    fit: Fit,
    filter: Filter,
    out: (u32, u32),
    by: String,
    expected: Vec<f32>,
}

fn cases() -> Vec<Case> {
    let rows = String::from_utf8(read("cases.tsv")).unwrap();
    let values = read("expected.bin");
    rows.lines().map(|row| parse(row, &values)).collect()
}

fn parse(row: &str, values: &[u8]) -> Case {
    let columns: Vec<&str> = row.split('\t').collect();
    let &[
        name,
        source,
        size,
        crop,
        degrees,
        mirror,
        matrix,
        range,
        siting,
        fit,
        filter,
        out,
        by,
        kind,
        offset,
    ] = &columns[..]
    else {
        panic!("{row}");
    };
    let pair =
        |text: &str| text.split_once('x').map(|(x, y)| (x.parse().unwrap(), y.parse().unwrap())).unwrap();
    let out: (u32, u32) = pair(out);
    let len = (out.0 * out.1 * 3) as usize;
    let values = &values[offset.parse::<usize>().unwrap()..];
    let expected = match kind {
        "u8" => values[..len].iter().map(|&value| value.into()).collect(),
        "u16" => values[..2 * len]
            .chunks(2)
            .map(|bytes| f32::from(u16::from_le_bytes([bytes[0], bytes[1]])) / 256.0)
            .collect(),
        _ => panic!("{row}"),
    };
    Case {
        name: format!("{name}, {filter}, {by}"),
        source: source.to_owned(),
        size: pair(size),
        crop: parse_crop(crop),
        rotation: Rotation::from_degrees(degrees.parse().unwrap()).unwrap(),
        mirror: mirror == "mirrored",
        matrix: match matrix {
            "bt2020" => Matrix::Bt2020,
            "bt709" => Matrix::Bt709,
            _ => Matrix::Bt601,
        },
        range: if range == "full" { Range::Full } else { Range::Limited },
        siting: if siting == "left" { ChromaSiting::Left } else { ChromaSiting::Center },
        fit: parse_fit(fit),
        filter: match filter {
            "bilinear" => Filter::Bilinear,
            "bicubic" => Filter::BicubicAntialias,
            "area" => Filter::Area,
            _ => Filter::BilinearAntialias,
        },
        out,
        by: by.to_owned(),
        expected,
    }
}

fn parse_crop(text: &str) -> Option<Rect> {
    let numbers: Vec<u32> = text.split(',').filter_map(|number| number.parse().ok()).collect();
    match numbers[..] {
        [x, y, width, height] => Some(rect(x, y, width, height)),
        _ => None,
    }
}

fn parse_fit(text: &str) -> Fit {
    match text.split_once(':') {
        Some(("letterbox", colour)) => {
            let colour: Vec<u8> = colour.split(',').map(|value| value.parse().unwrap()).collect();
            Fit::Letterbox { pad: colour.try_into().unwrap() }
        }
        Some(("center_crop", fraction)) => Fit::CenterCrop { fraction: fraction.parse().unwrap() },
        _ => Fit::Stretch,
    }
}

/// The tensor of the case, on 0..=255.
fn tensor(case: &Case) -> Vec<f32> {
    let (width, height) = case.size;
    let bytes = match case.source.as_str() {
        "wave.rgb" => wave_rgb(width, height),
        "noise.rgb" => noise_rgb(width, height),
        "wave.i420" => Yuv::wave(width, height).i420(),
        file => read(file),
    };
    let layout: BufferLayout = case.source.rsplit('.').next().unwrap().parse().unwrap();
    let mut frame = layout.frame(&bytes, width, height, None, None).unwrap();
    frame.crop = case.crop;
    frame.rotation = case.rotation;
    frame.mirror = case.mirror;
    frame.matrix = case.matrix;
    frame.range = case.range;
    frame.chroma_siting = case.siting;
    let (fit, filter) = (case.fit, case.filter);
    let spec = ImageSpec { fit, filter, ..ImageSpec::pixels(case.out.0, case.out.1, Channels::Rgb) };
    let mut preprocessor = Preprocessor::new(spec).unwrap();
    let mut out = vec![0_u8; preprocessor.output_len()];
    preprocessor.run(&frame, &mut out).unwrap();
    out.into_iter().map(f32::from).collect()
}

/// Compares all cases that are selected. Limits are for the greatest difference and the mean of each case, on 0..=255.
fn check_all(count: usize, limits: (f32, f32), select: impl Fn(&Case) -> bool) {
    let selected: Vec<Case> = cases().into_iter().filter(select).collect();
    assert_eq!(selected.len(), count, "cases.tsv has lost or gained cases");
    let mut wrong = Vec::new();
    for case in &selected {
        let tensor = tensor(case);
        let (max, mean) = difference(&tensor, &case.expected);
        println!("{}: max {max:.4}, mean {mean:.4}", case.name);
        if !(max <= limits.0 && mean <= limits.1) {
            wrong.push(format!("{}: max {max:.4}, mean {mean:.4}", case.name));
        }
    }
    assert!(wrong.is_empty(), "beyond max {} or mean {}:\n{}", limits.0, limits.1, wrong.join("\n"));
}

#[test]
fn rgb_equals_pillow_bit_for_bit() {
    check_all(96, (0.0, 0.0), |case| is_rgb(case) && case.by == "pillow");
}

#[test]
fn bilinear_rgb_equals_opencv_bit_for_bit() {
    check_all(48, (0.0, 0.0), |case| is_rgb(case) && case.filter == Filter::Bilinear);
}

#[test]
fn areas_of_rgb_equal_opencv_but_for_sums_near_a_half() {
    check_all(48, (1.0, 0.03), |case| is_rgb(case) && case.filter == Filter::Area);
}

#[test]
fn yuv_equals_conversion_and_then_resizing_in_double_precision_rounded() {
    check_all(44, (0.55, 0.3), |case| case.by == "numpy");
}

#[test]
fn colours_that_rgb_cannot_show_differ_only_by_when_they_are_clamped() {
    check_all(34, (5.5, 0.35), |case| case.by == "numpy, clamped first");
}

#[test]
fn yuv_is_close_to_what_opencv_and_pillow_make_of_it() {
    check_all(2, (3.0, 0.6), |case| case.source == "wave.i420" && case.by == "pillow");
}

fn is_rgb(case: &Case) -> bool {
    case.source.ends_with("rgb")
}
