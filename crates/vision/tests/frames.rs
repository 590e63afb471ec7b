//! Frames as real devices give them, and frames that must be refused.

mod common;

use common::{Yuv, difference, raw_spec, rect, run, spread, unchecked, yuv420};
use nearside_vision::{
    BufferLayout, Error, Filter, Fit, Frame, ImageSpec, Layout, Matrix, PixelFormat, Plane, Preprocessor,
    Range, Rotation,
};

fn spec() -> ImageSpec {
    raw_spec(20, 16, Fit::Stretch, Filter::BilinearAntialias)
}

/// The cat as I420 without padding: what every other layout of it must equal to the last bit.
fn tight() -> Vec<f32> {
    let i420 = Yuv::cat().i420();
    run(spec(), &Frame::i420(&i420, 97, 61, None).unwrap())
}

#[test]
fn nv12_and_nv21_equal_i420() {
    let cat = Yuv::cat();
    let (nv12, nv21) = (cat.semi_planar(false), cat.semi_planar(true));
    assert_eq!(run(spec(), &Frame::nv12(&nv12, 97, 61, None).unwrap()), tight());
    assert_eq!(run(spec(), &Frame::nv21(&nv21, 97, 61, None).unwrap()), tight());
}

#[test]
fn padded_rows_equal_tight_ones() {
    let cat = Yuv::cat();
    let (columns, _) = cat.chroma_size();
    let [y, u, v] = &cat.planes;
    let y = spread(y, 97, 128, 1, 255);
    for (row_stride, pixel_stride) in [(49, 1), (64, 1), (98, 2), (128, 2), (200, 4), (512, 7)] {
        let [u, v] = [u, v].map(|plane| spread(plane, columns, row_stride, pixel_stride, 255));
        let chroma = |plane| (plane, row_stride, pixel_stride);
        let frame = yuv420(97, 61, [(&y[..], 128, 1), chroma(&u[..]), chroma(&v[..])]);
        assert_eq!(run(spec(), &frame), tight(), "row stride {row_stride}, pixel stride {pixel_stride}");
    }
}

#[test]
fn chroma_views_one_byte_apart_may_come_in_either_order() {
    let cat = Yuv::cat();
    let (columns, rows) = cat.chroma_size();
    for v_first in [false, true] {
        let chroma = &cat.semi_planar(v_first)[cat.planes[0].len()..];
        // Each view reaches only to its own last sample, as Android's ByteBuffers do.
        let needs = (rows - 1) * 2 * columns + 2 * (columns - 1) + 1;
        let [first, second] = [&chroma[..needs], &chroma[1..needs + 1]];
        let [u, v] = if v_first { [second, first] } else { [first, second] };
        let y = &cat.planes[0][..];
        let frame = yuv420(97, 61, [(y, 97, 1), (u, 2 * columns, 2), (v, 2 * columns, 2)]);
        assert_eq!(run(spec(), &frame), tight(), "V first: {v_first}");
    }
}

#[test]
fn a_chroma_view_of_153_599_bytes_is_enough_for_640x480() {
    let wave = Yuv::wave(640, 480);
    let expected = run(spec(), &Frame::i420(&wave.i420(), 640, 480, None).unwrap());
    let nv12 = wave.semi_planar(false);
    let (y, chroma) = nv12.split_at(640 * 480);
    let (u, v) = (&chroma[..153_599], &chroma[1..]);
    assert_eq!((u.len(), v.len()), (153_599, 153_599));
    assert_eq!(run(spec(), &yuv420(640, 480, [(y, 640, 1), (u, 640, 2), (v, 640, 2)])), expected);
    // The same as copies of their own.
    let (u, v) = (u.to_vec(), v.to_vec());
    assert_eq!(run(spec(), &yuv420(640, 480, [(y, 640, 1), (&u[..], 640, 2), (&v[..], 640, 2)])), expected);
}

#[test]
fn a_truncated_chroma_plane_is_still_read() {
    let wave = Yuv::wave(640, 480);
    for v_first in [false, true] {
        let whole = wave.semi_planar(v_first);
        let layout = if v_first { BufferLayout::Nv21 } else { BufferLayout::Nv12 };
        // Without its last byte, the last sample takes the value of its neighbour.
        let mut repeated = whole.clone();
        let last = repeated.len() - 1;
        repeated[last] = repeated[last - 2];
        let expected = run(spec(), &layout.frame(&repeated, 640, 480, None, None).unwrap());
        let cut = &whole[..last];
        assert_eq!(run(spec(), &layout.frame(cut, 640, 480, None, None).unwrap()), expected);

        // The same with planes that are copies of their own.
        let (y, chroma) = cut.split_at(640 * 480);
        let (first, second) = (chroma.to_vec(), chroma[1..].to_vec());
        let [u, v] = if v_first { [&second, &first] } else { [&first, &second] };
        let frame = yuv420(640, 480, [(y, 640, 1), (&u[..], 640, 2), (&v[..], 640, 2)]);
        assert_eq!(run(spec(), &frame), expected);
    }
}

#[test]
fn a_column_of_chroma_without_its_last_sample_repeats_the_row_above() {
    let y = [100; 2 * 6];
    let (u, v) = ([90, 0, 110, 0, 130], [60, 0, 80, 0]);
    let repeated = [60, 0, 80, 0, 80];
    let frame = |v| yuv420(2, 6, [(&y[..], 2, 1), (&u[..], 2, 2), (v, 2, 2)]);
    assert_eq!(run(spec(), &frame(&v[..])), run(spec(), &frame(&repeated[..])));
}

#[test]
fn row_stride_1536_for_width_1280_is_read_right() {
    let wave = Yuv::wave(1280, 720);
    let expected = run(spec(), &Frame::i420(&wave.i420(), 1280, 720, None).unwrap());
    let y = spread(&wave.planes[0], 1280, 1536, 1, 7);
    let u = spread(&wave.planes[1], 640, 1536, 2, 7);
    let v = spread(&wave.planes[2], 640, 1536, 2, 7);
    let frame = yuv420(1280, 720, [(&y[..], 1536, 1), (&u[..], 1536, 2), (&v[..], 1536, 2)]);
    assert_eq!(run(spec(), &frame), expected);

    // One buffer whose last chroma row is not padded, as a decoder gives it.
    let mut buffer = spread(&wave.planes[0], 1280, 1536, 1, 7);
    buffer.resize(1536 * 720, 7);
    let pairs: Vec<u8> = wave.semi_planar(false)[1280 * 720..].to_vec();
    buffer.extend(spread(&pairs, 1280, 1536, 1, 7));
    assert_eq!(run(spec(), &Frame::nv12(&buffer, 1280, 720, Some(1536)).unwrap()), expected);
}

#[test]
fn packed_formats_equal_each_other() {
    let rgb = common::read("cat.rgb");
    let expected = run(spec(), &Frame::rgb(&rgb, 97, 61, None).unwrap());
    let pixels: Vec<&[u8]> = rgb.chunks(3).collect();
    let rgba: Vec<u8> = pixels.iter().flat_map(|p| [p[0], p[1], p[2], 9]).collect();
    let bgra: Vec<u8> = pixels.iter().flat_map(|p| [p[2], p[1], p[0], 200]).collect();
    assert_eq!(run(spec(), &Frame::rgba(&rgba, 97, 61, None).unwrap()), expected);
    assert_eq!(run(spec(), &Frame::bgra(&bgra, 97, 61, None).unwrap()), expected);

    let mut padded: Vec<u8> = bgra.chunks(97 * 4).flat_map(|row| [row, &[1; 60]].concat()).collect();
    padded.truncate(padded.len() - 60);
    assert_eq!(run(spec(), &Frame::bgra(&padded, 97, 61, Some(97 * 4 + 60)).unwrap()), expected);
}

#[test]
fn nchw_holds_the_same_numbers_as_nhwc_by_channel() {
    let rgb = common::read("cat.rgb");
    let mut frame = Frame::rgb(&rgb, 97, 61, None).unwrap();
    for rotation in [Rotation::R0, Rotation::R90] {
        for fit in [Fit::Stretch, Fit::Letterbox { pad: [10, 20, 30] }] {
            frame.rotation = rotation;
            let nhwc = ImageSpec { fit, mean: [0.5, 0.4, 0.3], std: [0.2, 0.3, 0.4], ..spec() };
            let planar = run(ImageSpec { layout: Layout::Nchw, ..nhwc }, &frame);
            let pixels = planar.len() / 3;
            let interleaved: Vec<f32> = (0..pixels)
                .flat_map(|at| [planar[at], planar[pixels + at], planar[2 * pixels + at]])
                .collect();
            assert_eq!(run(nhwc, &frame), interleaved);
        }
    }
}

#[test]
fn mean_and_std_are_for_values_from_0_to_1() {
    let frame = [255, 0, 51];
    let frame = Frame::rgb(&frame, 1, 1, None).unwrap();
    let spec = ImageSpec { mean: [0.485, 0.456, 0.406], std: [0.229, 0.224, 0.225], ..ImageSpec::new(1, 1) };
    let expected = [(1.0 - 0.485) / 0.229, (0.0 - 0.456) / 0.224, (0.2 - 0.406) / 0.225];
    assert!(difference(&run(spec, &frame), &expected).0 < 1e-6);
}

#[test]
fn the_same_grey_is_grey_in_every_matrix_and_range() {
    for (range, y, grey) in [(Range::Limited, 16, 0.0), (Range::Limited, 235, 255.0), (Range::Full, 77, 77.0)]
    {
        for matrix in [Matrix::Bt601, Matrix::Bt709, Matrix::Bt2020] {
            let planes = [[y; 4].to_vec(), vec![128], vec![128]].concat();
            let frame = Frame { matrix, range, ..Frame::i420(&planes, 2, 2, None).unwrap() };
            assert!(difference(&run(spec(), &frame), &vec![grey; 20 * 16 * 3]).0 < 1e-3);
        }
    }
}

#[test]
fn values_beyond_the_range_are_clamped() {
    let white = Frame::i420(&[255, 255, 255, 255, 128, 128], 2, 2, None).unwrap().planes;
    let frame = Frame::yuv420(white, 2, 2).unwrap();
    assert!(run(spec(), &frame).iter().all(|&value| (value - 255.0).abs() < 1e-3));
}

#[test]
fn results_do_not_depend_on_what_was_run_before() {
    let (cat, wave) = (Yuv::cat().i420(), Yuv::wave(64, 48).i420());
    let cat = Frame::i420(&cat, 97, 61, None).unwrap();
    let wave = Frame {
        rotation: Rotation::R90,
        crop: Some(rect(3, 5, 31, 17)),
        ..Frame::i420(&wave, 64, 48, None).unwrap()
    };
    let mut preprocessor = Preprocessor::new(spec()).unwrap();
    let mut out = vec![0.0; preprocessor.output_len()];
    for frame in [&cat, &wave, &wave, &cat] {
        preprocessor.run(frame, &mut out).unwrap();
        assert_eq!(out, run(spec(), frame));
    }
}

#[test]
fn yuyv_of_odd_width_ends_with_a_whole_group() {
    assert_eq!(BufferLayout::Yuyv.frame_bytes(3, 2, None, None), 16);
    let error = Frame::yuyv(&[128; 15], 3, 2, None).unwrap_err();
    assert!(matches!(error, Error::PlaneTooShort { plane: "YUYV", has: 15, needs: 16, .. }), "{error}");
}

#[test]
fn a_plane_that_is_too_short_is_named_with_what_it_has_and_needs() {
    let i420 = vec![0; 640 * 480 * 3 / 2];
    let error = Frame::i420(&i420[..i420.len() - 1], 640, 480, None).unwrap_err();
    assert!(matches!(error, Error::PlaneTooShort { plane: "V", has: 76_799, needs: 76_800, .. }), "{error}");
    let error = Frame::i420(&i420[..1000], 640, 480, None).unwrap_err();
    assert!(matches!(error, Error::PlaneTooShort { plane: "Y", has: 1000, needs: 307_200, .. }), "{error}");
    let error = Frame::nv12(&i420[..i420.len() - 2], 640, 480, None).unwrap_err();
    assert!(
        matches!(error, Error::PlaneTooShort { plane: "V", has: 153_597, needs: 153_599, .. }),
        "{error}"
    );
    let error = Frame::rgba(&i420, 640, 480, None).unwrap_err();
    let message = format!("{error}: {}", error.hint());
    for part in ["RGBA", "460800", "1228800", "stride 2560", "pass the whole plane"] {
        assert!(message.contains(part), "{message}");
    }
}

#[test]
fn a_row_stride_smaller_than_a_row_is_refused() {
    let bytes = vec![0; 4_000_000];
    let error = Frame::nv12(&bytes, 1280, 720, Some(640)).unwrap_err();
    assert!(
        matches!(error, Error::RowStrideTooSmall { plane: "Y", row_stride: 640, needs: 1280, .. }),
        "{error}"
    );
    // Strides given in pixels instead of bytes.
    let error = Frame::rgba(&bytes, 640, 480, Some(640)).unwrap_err();
    assert!(matches!(error, Error::RowStrideTooSmall { plane: "RGBA", needs: 2560, .. }), "{error}");
    assert!(error.hint().contains("in bytes"), "{error}");
}

#[test]
fn a_pixel_stride_that_the_format_cannot_have_is_refused() {
    let bytes = [0; 64];
    let plane = |pixel_stride| Plane { bytes: &bytes, row_stride: 16, pixel_stride };
    for (format, pixel_stride) in [
        (PixelFormat::Rgb, 2),
        (PixelFormat::Rgba, 3),
        (PixelFormat::Bgra, 0),
        (PixelFormat::Yuyv, 4),
        (PixelFormat::Yuv420, 0),
    ] {
        let error = unchecked(format, 4, 4, plane(pixel_stride)).validate().unwrap_err();
        assert!(matches!(error, Error::WrongPixelStride { .. }), "{format}: {error}");
    }
}

#[test]
fn empty_frames_and_crops_outside_are_refused() {
    let bytes = [0; 300];
    assert!(matches!(Frame::rgb(&bytes, 0, 10, None), Err(Error::EmptyFrame { width: 0, height: 10 })));
    assert!(matches!(Frame::i420(&bytes, 10, 0, None), Err(Error::EmptyFrame { .. })));
    let frame = Frame::rgb(&bytes, 10, 10, None).unwrap();
    for (x, y, width, height) in
        [(0, 0, 0, 1), (0, 0, 11, 1), (10, 0, 1, 1), (5, 5, 6, 5), (u32::MAX, 0, 2, 1), (0, 1, 1, u32::MAX)]
    {
        let crop = Some(rect(x, y, width, height));
        let error = Frame { crop, ..frame }.validate().unwrap_err();
        assert!(matches!(error, Error::CropOutsideFrame { width: 10, height: 10, .. }), "{error}");
    }
}

#[test]
fn sizes_and_strides_that_overflow_are_refused() {
    for layout in BufferLayout::ALL {
        for (row_stride, pixel_stride) in
            [(None, None), (Some(usize::MAX), None), (Some(usize::MAX), Some(usize::MAX))]
        {
            assert!(layout.frame(&[0; 64], u32::MAX, u32::MAX, row_stride, pixel_stride).is_err());
            assert!(layout.frame(&[0; 64], 2, 3, Some(usize::MAX), pixel_stride).is_err());
        }
    }
    let plane = Plane { bytes: &[0; 64], row_stride: usize::MAX, pixel_stride: usize::MAX };
    for format in [PixelFormat::Yuv420, PixelFormat::P010, PixelFormat::Rgb, PixelFormat::Rgb565] {
        assert!(Frame { planes: [plane; 3], ..unchecked(format, 9, 9, plane) }.validate().is_err());
    }
}

#[test]
fn an_output_buffer_of_the_wrong_length_is_refused_and_left_alone() {
    let rgb = [0; 3];
    let frame = Frame::rgb(&rgb, 1, 1, None).unwrap();
    let mut preprocessor = Preprocessor::new(ImageSpec::new(4, 5)).unwrap();
    assert_eq!(preprocessor.output_len(), 60);
    for len in [0, 59, 61] {
        let mut out = vec![7.0; len];
        let error = preprocessor.run(&frame, &mut out).unwrap_err();
        assert!(matches!(error, Error::WrongOutputLength { needs: 60, width: 4, height: 5, .. }), "{error}");
        assert!(out.iter().all(|&value| value == 7.0));
    }
    let mut out = vec![7.0; 60];
    let bad = Frame { crop: Some(rect(1, 0, 1, 1)), ..frame };
    assert!(preprocessor.run(&bad, &mut out).is_err());
    assert!(out.iter().all(|&value| value == 7.0));
}

#[test]
fn specifications_that_cannot_be_followed_are_refused() {
    let good = ImageSpec::new(8, 8);
    let bad = [
        ImageSpec { width: 0, ..good },
        ImageSpec { height: 20_000, ..good },
        ImageSpec { fit: Fit::CenterCrop { fraction: 0.0 }, ..good },
        ImageSpec { fit: Fit::CenterCrop { fraction: 1.1 }, ..good },
        ImageSpec { fit: Fit::CenterCrop { fraction: f32::NAN }, ..good },
        ImageSpec { std: [1.0, 0.0, 1.0], ..good },
        ImageSpec { std: [1.0, 1.0, f32::INFINITY], ..good },
        ImageSpec { mean: [f32::NAN, 0.0, 0.0], ..good },
    ];
    for spec in bad {
        let error = Preprocessor::new(spec).unwrap_err();
        assert!(matches!(error, Error::InvalidSpec { .. }), "{spec:?}: {error}");
    }
}

#[test]
fn only_quarter_turns_are_rotations() {
    for (degrees, rotation) in
        [(0, Rotation::R0), (90, Rotation::R90), (180, Rotation::R180), (270, Rotation::R270)]
    {
        assert_eq!(Rotation::from_degrees(degrees).unwrap(), rotation);
        assert_eq!(i64::from(rotation.degrees()), degrees);
    }
    for degrees in [-90, 1, 45, 360] {
        assert!(matches!(Rotation::from_degrees(degrees), Err(Error::InvalidRotation { .. })));
    }
}

#[test]
fn grey_with_any_pixel_stride_is_grey() {
    let grey = common::read("cat.rgb").into_iter().step_by(3).collect::<Vec<_>>();
    let tight = Frame::gray8(&grey, 97, 61, None).unwrap();
    for filter in [Filter::Nearest, Filter::Bilinear, Filter::BilinearAntialias, Filter::Area] {
        for (width, height) in [(16, 16), (90, 50), (97, 61)] {
            let spec = raw_spec(width, height, Fit::Stretch, filter);
            for pixel_stride in [2, 3, 4, 5] {
                let bytes = spread(&grey, 97, 97 * pixel_stride, pixel_stride, 7);
                let plane = Plane { bytes: &bytes, row_stride: 97 * pixel_stride, pixel_stride };
                let frame = unchecked(PixelFormat::Gray8, 97, 61, plane);
                assert_eq!(run(spec, &frame), run(spec, &tight), "{filter:?}, pixel stride {pixel_stride}");
            }
        }
    }
}

#[test]
fn chroma_planes_with_strides_of_their_own_are_not_taken_for_those_before() {
    let wave = Yuv::wave(64, 64);
    let [y, u, v] = &wave.planes;
    let spread_u = spread(u, 32, 64, 2, 7);
    let tight = yuv420(64, 64, [(&y[..], 64, 1), (&u[..], 32, 1), (&v[..], 32, 1)]);
    let mixed = yuv420(64, 64, [(&y[..], 64, 1), (&spread_u[..], 64, 2), (&v[..], 32, 1)]);
    let spec = raw_spec(64, 64, Fit::Stretch, Filter::Bilinear);
    let mut preprocessor = Preprocessor::new(spec).unwrap();
    let mut out = vec![0.0; preprocessor.output_len()];
    for frame in [&tight, &mixed, &tight] {
        preprocessor.run(frame, &mut out).unwrap();
        assert_eq!(out, run(spec, &tight));
    }
}

#[test]
fn a_std_so_small_that_nothing_finite_comes_out_is_refused() {
    for (mean, std) in [(0.5, 1e-45), (3e38, 1e-3)] {
        let spec = ImageSpec { mean: [mean; 3], std: [std; 3], ..ImageSpec::new(4, 4) };
        let error = Preprocessor::new(spec).unwrap_err();
        assert!(matches!(error, Error::InvalidSpec { field: "std", .. }), "{error}");
    }
}

#[test]
fn the_nearest_of_two_samples_that_are_as_near_is_pillows() {
    // What Pillow 13 gives: the first output that lies on a border, of which multiplying would make the next sample.
    for (source, out, at, value) in [(2, 7, 3, 0), (2, 21, 10, 0), (140, 95, 9, 13), (140, 95, 28, 41)] {
        let grey: Vec<u8> = (0..source).collect();
        let frame = Frame::gray8(&grey, source.into(), 1, None).unwrap();
        let tensor = run(raw_spec(out, 1, Fit::Stretch, Filter::Nearest), &frame);
        assert_eq!(tensor[3 * at].round() as u8, value, "{source} to {out}");
    }
}

#[test]
fn areas_round_halves_to_even_but_for_two_by_two_as_opencv_does() {
    let rgb = |values: &[u8]| values.iter().flat_map(|&value| [value; 3]).collect::<Vec<_>>();
    let area = |values: &[u8], width: u32, out: (u32, u32)| {
        let bytes = rgb(values);
        let frame = Frame::rgb(&bytes, width, values.len() as u32 / width, None).unwrap();
        run(raw_spec(out.0, out.1, Fit::Stretch, Filter::Area), &frame)[0].round()
    };
    // Halves of 0.5, 1.5 and 2.5 along one axis; 0.5 of four.
    assert_eq!([[0, 1], [1, 2], [2, 3]].map(|two| area(&two, 2, (1, 1))), [0.0, 2.0, 2.0]);
    assert_eq!([[0, 1], [1, 2], [2, 3]].map(|two| area(&two, 1, (1, 1))), [0.0, 2.0, 2.0]);
    assert_eq!(area(&[0, 0, 1, 1], 2, (1, 1)), 1.0);
}
