//! Every element, layout and order of channels against what its definition says of each number.

mod common;

use common::{Yuv, noise_rgb};
use half::f16;
use nearside_vision::{
    Channels, Element, Error, Filter, Fit, Frame, ImageSpec, InstructionSet, Layout, Preprocessor,
    Quantization, Rotation, TensorMut, Work,
};

const LAYOUTS: [Layout; 5] = [
    Layout::Nchw,
    Layout::Nhwc,
    Layout::Patches { side: 1 },
    Layout::Patches { side: 4 },
    Layout::Patches { side: 12 },
];
const CHANNELS: [Channels; 4] = [Channels::Rgb, Channels::Bgr, Channels::Rgba, Channels::Bgra];
const ELEMENTS: [Element; 6] = [
    Element::F32,
    Element::F16,
    Element::U8(Quantization::PIXELS_U8),
    Element::U8(Quantization { scale: 0.02, zero_point: 114 }),
    Element::I8(Quantization::PIXELS_I8),
    Element::I8(Quantization { scale: 0.03, zero_point: -5 }),
];

/// A tensor of any element.
#[derive(Clone, Debug, PartialEq)]
enum Tensor {
    F32(Vec<f32>),
    F16(Vec<f16>),
    U8(Vec<u8>),
    I8(Vec<i8>),
}

impl Tensor {
    fn new(element: Element, len: usize) -> Self {
        match element {
            Element::F32 => Self::F32(vec![f32::NAN; len]),
            Element::F16 => Self::F16(vec![f16::NAN; len]),
            Element::U8(_) => Self::U8(vec![77; len]),
            Element::I8(_) => Self::I8(vec![77; len]),
        }
    }

    fn as_mut(&mut self) -> TensorMut<'_> {
        match self {
            Self::F32(out) => out.into(),
            Self::F16(out) => out.into(),
            Self::U8(out) => out.into(),
            Self::I8(out) => out.into(),
        }
    }

    /// The elements as numbers, in another order.
    fn reordered(&self, order: &[usize]) -> Self {
        fn pick<T: Copy>(from: &[T], order: &[usize]) -> Vec<T> {
            order.iter().map(|&at| from[at]).collect()
        }
        match self {
            Self::F32(from) => Self::F32(pick(from, order)),
            Self::F16(from) => Self::F16(pick(from, order)),
            Self::U8(from) => Self::U8(pick(from, order)),
            Self::I8(from) => Self::I8(pick(from, order)),
        }
    }
}

/// The tensor of `frame`, which is the same in halves.
fn tensor_with(spec: ImageSpec, frame: &Frame<'_>, set: InstructionSet) -> Tensor {
    let mut preprocessor = Preprocessor::new(spec).unwrap();
    preprocessor.set_instruction_set(set);
    let mut out = Tensor::new(spec.element, preprocessor.output_len());
    preprocessor.run(frame, out.as_mut()).unwrap();
    let mut by_halves = Tensor::new(spec.element, preprocessor.output_len());
    let backwards = |top: &mut Work<'_>, bottom: &mut Work<'_>| {
        bottom();
        top();
    };
    preprocessor.run_halves(frame, by_halves.as_mut(), backwards).unwrap();
    assert!(by_halves == out, "in halves: {spec:?}");
    out
}

fn tensor(spec: ImageSpec, frame: &Frame<'_>) -> Tensor {
    tensor_with(spec, frame, InstructionSet::best())
}

/// Which pixel and channel each element of the tensor is, in its order.
fn places(spec: &ImageSpec) -> Vec<([usize; 2], usize)> {
    let (width, height) = (spec.width as usize, spec.height as usize);
    let count = spec.channels.count();
    let mut places = Vec::new();
    match spec.layout {
        Layout::Nchw => {
            for channel in 0..count {
                for y in 0..height {
                    (0..width).for_each(|x| places.push(([x, y], channel)));
                }
            }
        }
        Layout::Nhwc => {
            for y in 0..height {
                for x in 0..width {
                    (0..count).for_each(|channel| places.push(([x, y], channel)));
                }
            }
        }
        Layout::Patches { side } => {
            let side = side as usize;
            for top in (0..height).step_by(side) {
                for left in (0..width).step_by(side) {
                    for y in top..top + side {
                        for x in left..left + side {
                            (0..count).for_each(|channel| places.push(([x, y], channel)));
                        }
                    }
                }
            }
        }
    }
    places
}

/// The number that each element stands for, if `pixel` gives the colours of the upright picture as it is in the tensor.
fn numbers(spec: &ImageSpec, pixel: impl Fn(usize, usize) -> [u8; 3]) -> Vec<f64> {
    let number = |([x, y], channel): ([usize; 2], usize)| {
        let colour = match (spec.channels, channel) {
            (_, 3) => return 1.0,
            (Channels::Rgb | Channels::Rgba, channel) => channel,
            (Channels::Bgr | Channels::Bgra, channel) => 2 - channel,
        };
        let (mean, std) = (f64::from(spec.mean[colour]), f64::from(spec.std[colour]));
        (f64::from(pixel(x, y)[colour]) / 255.0 - mean) / std
    };
    places(spec).into_iter().map(number).collect()
}

/// Makes sure that each element stands for its number, as closely as its type can.
fn assert_stand_for(out: &Tensor, numbers: &[f64], element: Element, what: impl std::fmt::Debug) {
    let quantised = |value: i32, number: f64, least: i32, most: i32| {
        let (Element::U8(by) | Element::I8(by)) = element else { panic!("{element:?}") };
        let Quantization { scale, zero_point } = by;
        let steps = number / f64::from(scale) + f64::from(zero_point);
        let expected = steps.clamp(least.into(), most.into());
        (f64::from(value) - expected).abs() <= 0.5 + 1e-6
    };
    let wrong = match out {
        Tensor::F32(out) => {
            assert_eq!(out.len(), numbers.len());
            let close = |(&out, &number): (&f32, &f64)| (f64::from(out) - number).abs() <= 1e-6;
            out.iter().zip(numbers).position(|pair| !close(pair))
        }
        Tensor::F16(out) => {
            assert_eq!(out.len(), numbers.len());
            out.iter().zip(numbers).position(|(&out, &number)| !is_closest(out, number))
        }
        Tensor::U8(out) => {
            assert_eq!(out.len(), numbers.len());
            out.iter().zip(numbers).position(|(&out, &number)| !quantised(out.into(), number, 0, 255))
        }
        Tensor::I8(out) => {
            assert_eq!(out.len(), numbers.len());
            out.iter().zip(numbers).position(|(&out, &number)| !quantised(out.into(), number, -128, 127))
        }
    };
    assert_eq!(wrong, None, "the first wrong element, of {what:?}");
}

/// Whether no other half is closer to `number`.
fn is_closest(half: f16, number: f64) -> bool {
    let distance = |half: f16| (half.to_f64() - number).abs();
    let bits = half.to_bits();
    [bits.wrapping_sub(1), bits.wrapping_add(1)]
        .map(f16::from_bits)
        .into_iter()
        .filter(|other| other.is_finite() && other.is_sign_positive() == half.is_sign_positive())
        .all(|other| distance(half) <= distance(other))
}

/// Available instruction sets.
fn sets() -> impl Iterator<Item = InstructionSet> {
    InstructionSet::ALL.into_iter().filter(|set| set.is_available())
}

#[test]
fn every_element_layout_and_order_of_channels_holds_what_its_definition_says() {
    let (width, height) = (36, 24);
    let rgb = noise_rgb(width, height);
    let pixel = |x: usize, y: usize| -> [u8; 3] {
        let at = 3 * (y * width as usize + x);
        rgb[at..at + 3].try_into().unwrap()
    };
    let frame = Frame::rgb(&rgb, width, height, None).unwrap();
    // Clockwise by a quarter: the left column, from the bottom up, becomes the top row.
    let turned = Frame { rotation: Rotation::R90, ..frame };
    let turned_pixel = |x: usize, y: usize| pixel(y, height as usize - 1 - x);
    for layout in LAYOUTS {
        for channels in CHANNELS {
            for element in ELEMENTS {
                let mean = [0.1, 0.25, 0.4];
                let spec = ImageSpec {
                    layout,
                    channels,
                    element,
                    mean,
                    std: [0.2, 0.3, 0.7],
                    ..ImageSpec::new(36, 24)
                };
                let turned_spec = ImageSpec { width: height, height: width, ..spec };
                for set in sets() {
                    let what = (layout, channels, element, set);
                    let out = tensor_with(spec, &frame, set);
                    assert_stand_for(&out, &numbers(&spec, pixel), element, what);
                    let out = tensor_with(turned_spec, &turned, set);
                    assert_stand_for(&out, &numbers(&turned_spec, turned_pixel), element, (what, "turned"));
                }
            }
        }
    }
}

/// The tensor of one pixel of 0 and one of 255, with the same mean and std for every colour.
fn black_and_white(element: Element, mean: [f32; 3], std: f32) -> Tensor {
    let spec = ImageSpec { element, mean, std: [std; 3], layout: Layout::Nhwc, ..ImageSpec::new(2, 1) };
    tensor(spec, &Frame::rgb(&[0, 0, 0, 255, 255, 255], 2, 1, None).unwrap())
}

#[test]
fn quantised_numbers_are_rounded_half_to_even_before_the_zero_point_is_added() {
    let by = |scale, zero_point| Quantization { scale, zero_point };
    // Numbers 0.5, 1.5, 2.5 and, a white's worth more, the same plus 1.
    let out = black_and_white(Element::U8(by(1.0, 0)), [-0.5, -1.5, -2.5], 1.0);
    assert_eq!(out, Tensor::U8(vec![0, 2, 2, 2, 2, 4]));
    let out = black_and_white(Element::U8(by(1.0, 3)), [-0.5, -1.5, -2.5], 1.0);
    assert_eq!(out, Tensor::U8(vec![3, 5, 5, 5, 5, 7]));
    // -0.5, -1.5, -2.5, and plus 1.
    let out = black_and_white(Element::I8(by(1.0, 0)), [0.5, 1.5, 2.5], 1.0);
    assert_eq!(out, Tensor::I8(vec![0, -2, -2, 0, 0, -2]));
    let out = black_and_white(Element::I8(by(1.0, -1)), [0.5, 1.5, 2.5], 1.0);
    assert_eq!(out, Tensor::I8(vec![-1, -3, -3, -1, -1, -3]));
    // Steps of a quarter: 0.125 is half a step, 0.375 one and a half.
    let out = black_and_white(Element::U8(by(0.25, 10)), [-0.125, -0.375, -0.625], 1.0);
    assert_eq!(out, Tensor::U8(vec![10, 12, 12, 14, 16, 16]));
}

#[test]
fn quantised_numbers_beyond_the_range_saturate() {
    let by = |scale, zero_point| Quantization { scale, zero_point };
    for scale in [1e-3, 1e-6, f32::MIN_POSITIVE] {
        let out = black_and_white(Element::U8(by(scale, 7)), [0.0, 0.5, 1.0], 1.0);
        assert_eq!(out, Tensor::U8(vec![7, 0, 0, 255, 255, 7]), "{scale}");
        let out = black_and_white(Element::I8(by(scale, -7)), [0.0, 0.5, 1.0], 1.0);
        assert_eq!(out, Tensor::I8(vec![-7, -128, -128, 127, 127, -7]), "{scale}");
    }
    // The last number that fits and the first that does not.
    let out = black_and_white(Element::U8(by(1.0, 0)), [-254.0, -255.0, 1.0], 1.0);
    assert_eq!(out, Tensor::U8(vec![254, 255, 0, 255, 255, 0]));
    let out = black_and_white(Element::I8(by(1.0, 0)), [-126.0, -127.0, 129.0], 1.0);
    assert_eq!(out, Tensor::I8(vec![126, 127, -128, 127, 127, -128]));
    let out = black_and_white(Element::U8(by(f32::MAX, 200)), [-1e30; 3], 1e-30);
    assert_eq!(out, Tensor::U8(vec![255; 6]));
}

#[test]
fn zero_points_at_the_ends_of_the_range_are_taken() {
    for (zero_point, black, white) in [(0, 0, 100), (155, 155, 255), (255, 255, 255)] {
        let out = black_and_white(Element::U8(Quantization { scale: 0.01, zero_point }), [0.0; 3], 1.0);
        assert_eq!(out, Tensor::U8(vec![black, black, black, white, white, white]));
    }
    for (zero_point, black, white) in [(-128, -128, -28), (27, 27, 127), (127, 127, 127)] {
        let out = black_and_white(Element::I8(Quantization { scale: 0.01, zero_point }), [0.0; 3], 1.0);
        assert_eq!(out, Tensor::I8(vec![black, black, black, white, white, white]));
    }
}

#[test]
fn halves_too_large_are_refused_and_small_ones_lose_bits_as_halves_do() {
    let Tensor::F16(out) = black_and_white(Element::F16, [0.0, -1e-7, 0.0], 1.0) else { panic!() };
    // 1e-7 lies between 0 and the least half, 5.96e-8 times one and two.
    assert_eq!(out[..3], [0.0, 1.192_092_9e-7, 0.0].map(f16::from_f32));
    let spec = ImageSpec { element: Element::F16, mean: [0.5; 3], std: [1e-6; 3], ..ImageSpec::new(2, 1) };
    assert!(matches!(spec.validate(), Err(Error::InvalidSpec { field: "std", .. })));
    // 2049 lies in the middle of 2048 and 2050, 2051 in that of 2050 and 2052.
    let Tensor::F16(out) = black_and_white(Element::F16, [-2049.0, -2051.0, -2048.0], 1.0) else { panic!() };
    assert_eq!(out[..3], [2048.0, 2052.0, 2048.0].map(f16::from_f32));
}

#[test]
fn bytes_and_signed_bytes_of_a_picture_are_its_pixels() {
    let bytes: Vec<u8> = (0..=255).flat_map(|value| [value, 255 - value, value ^ 85]).collect();
    let frame = Frame::rgb(&bytes, 16, 16, None).unwrap();
    let spec = ImageSpec::pixels(16, 16, Channels::Rgb);
    assert_eq!(tensor(spec, &frame), Tensor::U8(bytes.clone()));
    let signed = bytes.iter().map(|&byte| (i32::from(byte) - 128) as i8).collect();
    let element = Element::I8(Quantization::PIXELS_I8);
    assert_eq!(tensor(ImageSpec { element, ..spec }, &frame), Tensor::I8(signed));
}

#[test]
fn alpha_is_one_in_floats_255_in_pixels_and_quantised_like_any_one() {
    let rgb = noise_rgb(20, 12);
    let yuv = Yuv::wave(20, 12).i420();
    let (rgb, yuv) = (Frame::rgb(&rgb, 20, 12, None).unwrap(), Frame::i420(&yuv, 20, 12, None).unwrap());
    let half_steps = Quantization { scale: 0.5, zero_point: 9 };
    for frame in [rgb, yuv, Frame { rotation: Rotation::R90, ..yuv }] {
        for fit in [Fit::Stretch, Fit::Letterbox { pad: [1, 2, 3] }] {
            for (width, height) in [(20, 12), (24, 24)] {
                for layout in [Layout::Nchw, Layout::Nhwc, Layout::Patches { side: 4 }] {
                    for channels in [Channels::Rgba, Channels::Bgra] {
                        // Mean and std are not for alpha.
                        let (mean, std) = ([0.5; 3], [0.25; 3]);
                        let spec =
                            ImageSpec { fit, layout, channels, mean, std, ..ImageSpec::new(width, height) };
                        let alpha: Vec<usize> = places(&spec)
                            .iter()
                            .enumerate()
                            .filter(|(_, (_, channel))| *channel == 3)
                            .map(|(at, _)| at)
                            .collect();
                        let count = alpha.len();
                        assert_eq!(count, (width * height) as usize);
                        let of = |spec| tensor(spec, &frame).reordered(&alpha);
                        let pixels = ImageSpec { fit, layout, ..ImageSpec::pixels(width, height, channels) };
                        assert_eq!(of(spec), Tensor::F32(vec![1.0; count]));
                        assert_eq!(
                            of(ImageSpec { element: Element::F16, ..spec }),
                            Tensor::F16(vec![f16::ONE; count])
                        );
                        assert_eq!(of(pixels), Tensor::U8(vec![255; count]));
                        assert_eq!(
                            of(ImageSpec { element: Element::I8(Quantization::PIXELS_I8), ..pixels }),
                            Tensor::I8(vec![127; count])
                        );
                        assert_eq!(
                            of(ImageSpec { element: Element::U8(half_steps), ..spec }),
                            Tensor::U8(vec![11; count])
                        );
                    }
                }
            }
        }
    }
}

#[test]
fn other_layouts_and_channels_hold_the_elements_of_nhwc_in_their_order() {
    let yuv = Yuv::wave(61, 43);
    let (i420, rgb) = (yuv.i420(), noise_rgb(61, 43));
    let frames = [Frame::i420(&i420, 61, 43, None).unwrap(), Frame::rgb(&rgb, 61, 43, None).unwrap()];
    let fits = [Fit::Stretch, Fit::Letterbox { pad: [200, 100, 50] }, Fit::CenterCrop { fraction: 0.8 }];
    for channels in CHANNELS {
        let nhwc = ImageSpec {
            channels,
            layout: Layout::Nhwc,
            mean: [0.1, 0.2, 0.3],
            std: [0.9, 0.8, 0.7],
            ..ImageSpec::new(48, 36)
        };
        let orders = LAYOUTS.map(|layout| {
            let at = |([x, y], channel): ([usize; 2], usize)| (y * 48 + x) * channels.count() + channel;
            places(&ImageSpec { layout, ..nhwc }).into_iter().map(at).collect::<Vec<_>>()
        });
        for frame in frames {
            for (rotation, mirror) in [(Rotation::R0, false), (Rotation::R90, true), (Rotation::R180, false)]
            {
                let frame = Frame { rotation, mirror, ..frame };
                for (fit, element) in fits.into_iter().flat_map(|fit| ELEMENTS.map(|element| (fit, element)))
                {
                    let nhwc = ImageSpec { fit, element, ..nhwc };
                    let expected = tensor(nhwc, &frame);
                    for (layout, order) in LAYOUTS.into_iter().zip(&orders) {
                        let found = tensor(ImageSpec { layout, ..nhwc }, &frame);
                        let what = (fit, element, channels, layout);
                        assert!(found == expected.reordered(order), "{what:?}");
                    }
                }
            }
        }
    }
}

#[test]
fn patches_are_the_reshaped_and_transposed_picture() {
    // [rows of patches, side, columns of patches, side x channels] with the middle axes exchanged.
    let (side, columns, rows) = (4, 3, 2);
    let (width, height) = (side * columns, side * rows);
    let bytes: Vec<u8> = (0..3 * width * height).map(|at| (at % 251) as u8).collect();
    let frame = Frame::rgb(&bytes, width as u32, height as u32, None).unwrap();
    let pixels = ImageSpec::pixels(width as u32, height as u32, Channels::Rgb);
    let spec = ImageSpec { layout: Layout::Patches { side: side as u32 }, ..pixels };
    let lines: Vec<&[u8]> = bytes.chunks(3 * side).collect();
    let mut expected = Vec::new();
    for row in 0..rows {
        for column in 0..columns {
            (0..side).for_each(|line| expected.extend(lines[(row * side + line) * columns + column]));
        }
    }
    assert_eq!(tensor(spec, &frame), Tensor::U8(expected));
}

#[test]
fn letterbox_bars_have_their_colour_in_every_element_and_layout() {
    let pad = [250, 128, 3];
    let white = vec![255; 3 * 24 * 6];
    let wide = Frame::rgb(&white, 24, 6, None).unwrap();
    // Bars above and below, of 6 rows, or left and right.
    for (frame, is_bar) in [
        (wide, (|_, y| !(9..15).contains(&y)) as fn(usize, usize) -> bool),
        (Frame { rotation: Rotation::R90, ..wide }, |x, _| !(9..15).contains(&x)),
    ] {
        let pixel = |x, y| if is_bar(x, y) { pad } else { [255; 3] };
        for layout in LAYOUTS {
            for channels in CHANNELS {
                for element in ELEMENTS {
                    let spec = ImageSpec {
                        fit: Fit::Letterbox { pad },
                        layout,
                        channels,
                        element,
                        mean: [0.3, 0.4, 0.5],
                        std: [0.6, 0.5, 0.4],
                        ..ImageSpec::new(24, 24)
                    };
                    let what = (layout, channels, element);
                    assert_stand_for(&tensor(spec, &frame), &numbers(&spec, pixel), element, what);
                }
            }
        }
    }
}

#[test]
fn pixels_are_the_rounded_floats_of_every_format_and_filter() {
    let yuv = Yuv::wave(61, 43);
    let (i420, nv12, rgb) = (yuv.i420(), yuv.semi_planar(false), noise_rgb(61, 43));
    let frames = [
        Frame::i420(&i420, 61, 43, None).unwrap(),
        Frame::nv12(&nv12, 61, 43, None).unwrap(),
        Frame::rgb(&rgb, 61, 43, None).unwrap(),
    ];
    for frame in frames {
        for filter in [
            Filter::Nearest,
            Filter::Bilinear,
            Filter::BilinearAntialias,
            Filter::BicubicAntialias,
            Filter::Area,
        ] {
            // Not resized, shrunk, and enlarged.
            for (width, height) in [(61, 43), (20, 16), (80, 100)] {
                for channels in CHANNELS {
                    let pixels = ImageSpec { filter, ..ImageSpec::pixels(width, height, channels) };
                    let floats = ImageSpec { element: Element::F32, ..pixels };
                    let Tensor::F32(floats) = tensor(floats, &frame) else { panic!() };
                    let rounded = floats.iter().map(|value| (value * 255.0).round() as u8).collect();
                    let what = (frame.format, filter, width, channels);
                    assert!(tensor(pixels, &frame) == Tensor::U8(rounded), "{what:?}");
                }
            }
        }
    }
}

#[test]
fn a_buffer_of_another_type_or_length_is_refused_and_left_alone() {
    let rgb = noise_rgb(8, 4);
    let frame = Frame::rgb(&rgb, 8, 4, None).unwrap();
    for element in ELEMENTS {
        for layout in [Layout::Nchw, Layout::Nhwc, Layout::Patches { side: 4 }] {
            for channels in CHANNELS {
                let fit = Fit::Letterbox { pad: [9; 3] };
                let spec = ImageSpec { element, layout, channels, fit, ..ImageSpec::new(8, 8) };
                let mut preprocessor = Preprocessor::new(spec).unwrap();
                let len = 64 * channels.count();
                assert_eq!(preprocessor.output_len(), len);
                for has in [0, 1, len - 1, len + 1, 2 * len] {
                    let mut out = Tensor::new(element, has);
                    let error = preprocessor.run(&frame, out.as_mut()).unwrap_err();
                    assert!(
                        matches!(error, Error::WrongOutputLength { has: found, needs, .. }
                            if (found, needs) == (has, len)),
                        "{error}"
                    );
                    assert!(!error.hint().is_empty());
                    assert_untouched(&out);
                }
                for other in ELEMENTS.into_iter().filter(|other| other.name() != element.name()) {
                    let mut out = Tensor::new(other, len);
                    let error = preprocessor.run(&frame, out.as_mut()).unwrap_err();
                    assert!(
                        matches!(error, Error::WrongOutputType { has, needs }
                            if (has, needs) == (other.name(), element.name())),
                        "{error}"
                    );
                    assert!(error.to_string().contains(element.name()) && !error.hint().is_empty());
                    assert_untouched(&out);
                }
                // It goes on working.
                preprocessor.run(&frame, Tensor::new(element, len).as_mut()).unwrap();
            }
        }
    }
}

fn assert_untouched(out: &Tensor) {
    let untouched = match out {
        Tensor::F32(out) => out.iter().all(|value| value.is_nan()),
        Tensor::F16(out) => out.iter().all(|value| value.is_nan()),
        Tensor::U8(out) => out.iter().all(|&value| value == 77),
        Tensor::I8(out) => out.iter().all(|&value| value == 77),
    };
    assert!(untouched, "{out:?}");
}

#[test]
fn quantisations_and_patches_that_are_not_possible_are_refused_by_name() {
    let by = |scale, zero_point| Quantization { scale, zero_point };
    let mut bad = Vec::new();
    for scale in [0.0, -1.0, f32::NAN, f32::INFINITY] {
        bad.push((
            ImageSpec { element: Element::U8(by(scale, 0)), ..ImageSpec::new(8, 8) },
            "quantization scale",
        ));
        bad.push((
            ImageSpec { element: Element::I8(by(scale, 0)), ..ImageSpec::new(8, 8) },
            "quantization scale",
        ));
    }
    for element in [
        Element::U8(by(1.0, -1)),
        Element::U8(by(1.0, 256)),
        Element::I8(by(1.0, -129)),
        Element::I8(by(1.0, 128)),
    ] {
        bad.push((ImageSpec { element, ..ImageSpec::new(8, 8) }, "zero point"));
    }
    for (width, height, side, named) in
        [(8, 8, 0, "patch side"), (9, 8, 4, "width"), (8, 6, 4, "height"), (8, 8, 16, "width")]
    {
        let layout = Layout::Patches { side };
        bad.push((ImageSpec { layout, ..ImageSpec::new(width, height) }, named));
    }
    for (spec, named) in bad {
        let error = Preprocessor::new(spec).unwrap_err();
        assert!(matches!(error, Error::InvalidSpec { field, .. } if field == named), "{spec:?}: {error}");
        assert!(error.to_string().contains(named) && !error.hint().is_empty(), "{error}");
    }
}
