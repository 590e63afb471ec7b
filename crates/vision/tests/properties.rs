//! Whatever the strides, size, crop and orientation: no panic, and the same result as without strides.

mod common;

use common::{Yuv, cases, difference, raw_spec, rect, run, spread, yuv420};
use nearside_vision::{BufferLayout, Filter, Fit, Frame, FrameBuffer, ImageSpec, Rect, Rotation};
use proptest::prelude::*;

/// A picture of noise.
fn yuv() -> impl Strategy<Value = Yuv> {
    (1_u32..40, 1_u32..40).prop_flat_map(|(width, height)| {
        let chroma = (width.div_ceil(2) * height.div_ceil(2)) as usize;
        let bytes = (width * height) as usize + 2 * chroma;
        prop::collection::vec(any::<u8>(), bytes).prop_map(move |bytes| Yuv::from_i420(&bytes, width, height))
    })
}

fn spec() -> impl Strategy<Value = ImageSpec> {
    let fit = prop_oneof![
        Just(Fit::Stretch),
        any::<[u8; 3]>().prop_map(|pad| Fit::Letterbox { pad }),
        (0.01_f32..=1.0).prop_map(|fraction| Fit::CenterCrop { fraction }),
    ];
    let filter = prop_oneof![Just(Filter::Bilinear), Just(Filter::BilinearAntialias)];
    (1_u32..24, 1_u32..24, fit, filter)
        .prop_map(|(width, height, fit, filter)| raw_spec(width, height, fit, filter))
}

/// Crop by fractions of the size, rotation, mirror.
fn view() -> impl Strategy<Value = (Option<[f64; 4]>, Rotation, bool)> {
    let rotation = prop::sample::select(vec![Rotation::R0, Rotation::R90, Rotation::R180, Rotation::R270]);
    (prop::option::of([0.0..1.0, 0.0..1.0, 0.0..1.0, 0.0..1.0]), rotation, any::<bool>())
}

fn crop_of(fractions: [f64; 4], width: u32, height: u32) -> Rect {
    let part = |fraction: f64, len: u32| (fraction * f64::from(len)) as u32;
    let (x, y) = (part(fractions[0], width), part(fractions[1], height));
    rect(x, y, 1 + part(fractions[2], width - x - 1), 1 + part(fractions[3], height - y - 1))
}

/// What of the picture is shown, on any layout of it.
fn viewed<'a>(frame: Frame<'a>, view: &(Option<[f64; 4]>, Rotation, bool)) -> Frame<'a> {
    let crop = view.0.map(|fractions| crop_of(fractions, frame.width, frame.height));
    Frame { crop, rotation: view.1, mirror: view.2, ..frame }
}

proptest! {
    #![proptest_config(cases(300))]

    #[test]
    fn strides_do_not_change_the_result(
        yuv in yuv(), spec in spec(), view in view(),
        y_pad in 0_usize..20, y_pixel in 1_usize..3, pads in [0_usize..20, 0..20], pixels in [1_usize..5, 1..5], junk: u8,
    ) {
        let i420 = yuv.i420();
        let expected = run(spec, &viewed(Frame::i420(&i420, yuv.width, yuv.height, None).unwrap(), &view));

        let (columns, _) = yuv.chroma_size();
        let y_stride = yuv.width as usize * y_pixel + y_pad;
        let y = spread(&yuv.planes[0], yuv.width as usize, y_stride, y_pixel, junk);
        let strides = [0, 1].map(|at| (columns * pixels[at] + pads[at], pixels[at]));
        let chroma = [0, 1].map(|at| spread(&yuv.planes[1 + at], columns, strides[at].0, strides[at].1, junk));
        let frame = yuv420(yuv.width, yuv.height, [
            (&y[..], y_stride, y_pixel),
            (&chroma[0][..], strides[0].0, strides[0].1),
            (&chroma[1][..], strides[1].0, strides[1].1),
        ]);
        let frame = viewed(frame, &view);
        prop_assert_eq!(&run(spec, &frame), &expected);

        let mut buffer = FrameBuffer::new();
        buffer.copy_from(&frame).unwrap();
        prop_assert_eq!(&run(spec, &buffer.frame()), &expected);
    }

    #[test]
    fn interleaving_does_not_change_the_result(yuv in yuv(), spec in spec(), view in view(), pad in 0_usize..20) {
        let i420 = yuv.i420();
        let expected = run(spec, &viewed(Frame::i420(&i420, yuv.width, yuv.height, None).unwrap(), &view));
        let (columns, rows) = yuv.chroma_size();
        for v_first in [false, true] {
            let pairs = yuv.semi_planar(v_first)[yuv.planes[0].len()..].to_vec();
            let row_stride = 2 * columns + pad;
            let interleaved = spread(&pairs, 2 * columns, row_stride, 1, 0);
            let needs = (rows - 1) * row_stride + 2 * columns - 1;
            let (first, second) = (&interleaved[..needs], &interleaved[1..needs + 1]);
            let [u, v] = if v_first { [second, first] } else { [first, second] };
            let y = &yuv.planes[0][..];
            let frame = yuv420(yuv.width, yuv.height, [
                (y, yuv.width as usize, 1), (u, row_stride, 2), (v, row_stride, 2),
            ]);
            let frame = viewed(frame, &view);
            prop_assert_eq!(&run(spec, &frame), &expected);

            let mut buffer = FrameBuffer::new();
            buffer.copy_from(&frame).unwrap();
            prop_assert_eq!(&run(spec, &buffer.frame()), &expected);
        }
    }

    #[test]
    fn any_bytes_sizes_and_strides_are_read_in_bounds_or_refused(
        bytes in prop::collection::vec(any::<u8>(), 0..400),
        width in 0_u32..20, height in 0_u32..20,
        row_stride in prop::option::of(0_usize..40), pixel_stride in prop::option::of(0_usize..6),
        spec in spec(), view in view(),
    ) {
        for layout in BufferLayout::ALL {
            if let Ok(frame) = layout.frame(&bytes, width, height, row_stride, pixel_stride) {
                let frame = viewed(frame, &view);
                let out = run(spec, &frame);
                prop_assert!(out.iter().all(|value| (-0.01..=255.01).contains(value)));
                let mut buffer = FrameBuffer::new();
                buffer.copy_from(&frame).unwrap();
                prop_assert_eq!(run(spec, &buffer.frame()), out);
            }
        }
    }

    #[test]
    fn a_frame_on_its_side_equals_the_frame_turned_beforehand(
        rgb in prop::collection::vec(any::<u8>(), 13 * 9 * 3), spec in spec(), turns in 0_usize..4, mirror: bool,
    ) {
        let rotation = [Rotation::R0, Rotation::R90, Rotation::R180, Rotation::R270][turns];
        let frame = Frame { rotation, mirror, ..Frame::rgb(&rgb, 13, 9, None).unwrap() };
        let (mut pixels, mut width) = (rgb.chunks(3).map(<[u8]>::to_vec).collect::<Vec<_>>(), 13);
        for _ in 0..turns {
            let height = pixels.len() / width;
            pixels = (0..width).flat_map(|x| (0..height).rev().map(move |y| y * width + x)).map(|at| pixels[at].clone()).collect();
            width = height;
        }
        if mirror {
            pixels.chunks_mut(width).for_each(<[Vec<u8>]>::reverse);
        }
        let turned = pixels.concat();
        let upright = Frame::rgb(&turned, width as u32, (13 * 9 / width) as u32, None).unwrap();
        let (max, _) = difference(&run(spec, &frame), &run(spec, &upright));
        prop_assert!(max < 1e-2, "{max}");
    }
}
