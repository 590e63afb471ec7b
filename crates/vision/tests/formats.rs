//! Every pixel format against what its definition says of each pixel.

mod common;

use common::picture::{Picture, bits, p010_bytes, viewed};
use common::{difference, raw_spec, rect, run, unchecked};
use nearside_vision::{
    BufferLayout, ChromaSiting, Error, Filter, Fit, Frame, FrameBuffer, ImageSpec, Matrix, PixelFormat,
    Plane, Preprocessor, Range, Rotation,
};

const MATRICES: [Matrix; 3] = [Matrix::Bt601, Matrix::Bt709, Matrix::Bt2020];
const RANGES: [Range; 2] = [Range::Limited, Range::Full];
const SITINGS: [ChromaSiting; 2] = [ChromaSiting::Center, ChromaSiting::Left];
const ROTATIONS: [Rotation; 4] = [Rotation::R0, Rotation::R90, Rotation::R180, Rotation::R270];
const DEFAULT: (Matrix, Range, ChromaSiting) = (Matrix::Bt601, Range::Limited, ChromaSiting::Center);

/// A specification that shows a picture of this size as it is.
fn same_size(width: usize, height: usize) -> ImageSpec {
    raw_spec(width as u32, height as u32, Fit::Stretch, Filter::Bilinear)
}

fn tight(layout: BufferLayout, bytes: &[u8], width: usize, height: usize) -> Frame<'_> {
    layout.frame(bytes, width as u32, height as u32, None, None).unwrap()
}

/// Rounding to bytes is half a level; the rest is for fixed point.
fn assert_shows(spec: ImageSpec, frame: &Frame<'_>, expected: &[f64], what: impl std::fmt::Debug) {
    let expected: Vec<f32> = expected.iter().map(|&value| value as f32).collect();
    let (max, _) = difference(&run(spec, frame), &expected);
    assert!(max <= 1.0, "{what:?}: differs by {max}");
}

#[test]
fn every_layout_shows_what_its_definition_says() {
    for layout in BufferLayout::ALL {
        for (width, height) in [(1, 1), (2, 1), (1, 2), (2, 2), (3, 5), (16, 8), (17, 9), (31, 14), (70, 3)] {
            let picture = Picture::of(layout, width, height);
            let bytes = picture.pack(layout);
            assert_eq!(bytes.len(), layout.frame_bytes(width as u32, height as u32, None, None));
            let frame = tight(layout, &bytes, width, height);
            let what = (layout, width, height);
            assert_shows(same_size(width, height), &frame, &picture.shown(layout, DEFAULT), what);
        }
    }
}

#[test]
fn every_matrix_range_and_siting_shows_what_the_recommendation_says() {
    for layout in BufferLayout::ALL {
        let picture = Picture::of(layout, 23, 11);
        let bytes = picture.pack(layout);
        for matrix in MATRICES {
            for range in RANGES {
                for chroma_siting in SITINGS {
                    let frame = Frame { matrix, range, chroma_siting, ..tight(layout, &bytes, 23, 11) };
                    let colour = (matrix, range, chroma_siting);
                    assert_shows(same_size(23, 11), &frame, &picture.shown(layout, colour), (layout, colour));
                }
            }
        }
    }
}

#[test]
fn a_crop_at_any_offset_equals_cropping_the_converted_picture() {
    let (width, height) = (19, 13);
    for layout in BufferLayout::ALL {
        let picture = Picture::of(layout, width, height);
        let bytes = picture.pack(layout);
        for chroma_siting in SITINGS {
            let shown = picture.shown(layout, (Matrix::Bt601, Range::Limited, chroma_siting));
            for crop in
                [[1, 1, 8, 6], [3, 0, 5, 13], [0, 5, 19, 1], [18, 12, 1, 1], [7, 3, 1, 9], [2, 2, 16, 10]]
            {
                for rotation in ROTATIONS {
                    for mirror in [false, true] {
                        let [x, y, columns, rows] = crop;
                        let frame = Frame {
                            crop: Some(rect(x as u32, y as u32, columns as u32, rows as u32)),
                            rotation,
                            mirror,
                            chroma_siting,
                            ..tight(layout, &bytes, width, height)
                        };
                        let expected = viewed(&shown, width, crop, rotation, mirror);
                        let spec = if rotation.swaps_axes() {
                            same_size(rows, columns)
                        } else {
                            same_size(columns, rows)
                        };
                        assert_shows(
                            spec,
                            &frame,
                            &expected,
                            (layout, chroma_siting, crop, rotation, mirror),
                        );
                    }
                }
            }
        }
    }
}

#[test]
fn resizing_a_crop_equals_resizing_the_converted_picture() {
    let (width, height) = (61, 47);
    for layout in BufferLayout::ALL {
        let picture = Picture::mild_noise(width, height, bits(layout));
        let bytes = picture.pack(layout);
        for chroma_siting in SITINGS {
            let shown = picture.shown(layout, (Matrix::Bt601, Range::Limited, chroma_siting));
            let rgb: Vec<u8> = shown.iter().map(|value| value.round() as u8).collect();
            let rgb = tight(BufferLayout::Rgb, &rgb, width, height);
            for filter in [Filter::Bilinear, Filter::BilinearAntialias] {
                for (x, y, columns, rows) in [(1, 3, 50, 40), (7, 0, 33, 47), (0, 1, 61, 9), (30, 31, 11, 5)]
                {
                    let crop = Some(rect(x, y, columns, rows));
                    let frame = Frame { crop, chroma_siting, ..tight(layout, &bytes, width, height) };
                    let spec = raw_spec(16, 12, Fit::Stretch, filter);
                    let (max, _) = difference(&run(spec, &frame), &run(spec, &Frame { crop, ..rgb }));
                    // Both are rounded, and the RGB picture was before.
                    assert!(max <= 1.6, "{layout:?}, {chroma_siting:?}, {filter:?}, {crop:?}: {max}");
                }
            }
        }
    }
}

#[test]
fn one_pixel_of_every_layout_fills_the_tensor_with_its_colour() {
    // The orange (230, 120, 40): Y, U, V by BT.601, limited range.
    let (y, u, v) = (139, 77, 182);
    for layout in BufferLayout::ALL {
        let (bytes, expected): (Vec<u8>, [f32; 3]) = match layout {
            BufferLayout::I420 | BufferLayout::Nv12 => (vec![y, u, v], [230.0, 120.0, 40.0]),
            BufferLayout::Yv12 | BufferLayout::Nv21 => (vec![y, v, u], [230.0, 120.0, 40.0]),
            BufferLayout::P010 => {
                (p010_bytes(&[y, u, v].map(|code| u16::from(code) * 4)), [230.0, 120.0, 40.0])
            }
            // The second pixel of the pair is beyond the frame.
            BufferLayout::Yuyv => (vec![y, u, 0, v], [230.0, 120.0, 40.0]),
            BufferLayout::Rgb => (vec![230, 120, 40], [230.0, 120.0, 40.0]),
            BufferLayout::Bgr => (vec![40, 120, 230], [230.0, 120.0, 40.0]),
            BufferLayout::Rgba => (vec![230, 120, 40, 3], [230.0, 120.0, 40.0]),
            BufferLayout::Bgra => (vec![40, 120, 230, 3], [230.0, 120.0, 40.0]),
            BufferLayout::Argb => (vec![3, 230, 120, 40], [230.0, 120.0, 40.0]),
            BufferLayout::Gray8 => (vec![77], [77.0; 3]),
            // 28 of 31, 30 of 63, 5 of 31.
            BufferLayout::Rgb565 => {
                ((28_u16 << 11 | 30 << 5 | 5).to_le_bytes().to_vec(), [231.0, 121.0, 41.0])
            }
        };
        for filter in [Filter::Bilinear, Filter::BilinearAntialias] {
            for fit in [Fit::Stretch, Fit::CenterCrop { fraction: 0.875 }] {
                let out = run(raw_spec(5, 4, fit, filter), &tight(layout, &bytes, 1, 1));
                let (max, _) = difference(&out, &expected.repeat(20));
                assert!(max <= 2.0, "{layout:?}: {out:?}");
            }
        }
    }
}

#[test]
fn the_primaries_of_each_recommendation_are_pure() {
    // Y, U, V of pure red, green and blue in limited range, 10 bits, by the recommendations' own equations.
    for (matrix, codes) in [
        (Matrix::Bt601, [[326, 361, 960], [578, 215, 137], [164, 960, 439]]),
        (Matrix::Bt709, [[250, 409, 960], [691, 167, 105], [127, 960, 471]]),
        (Matrix::Bt2020, [[294, 387, 960], [658, 189, 100], [116, 960, 476]]),
    ] {
        for (channel, codes) in codes.into_iter().enumerate() {
            let bytes = p010_bytes(&codes);
            let mut frame = Frame { matrix, ..tight(BufferLayout::P010, &bytes, 1, 1) };
            let mut expected = [0.0; 3];
            expected[channel] = 255.0;
            let (max, _) = difference(&run(same_size(1, 1), &frame), &expected);
            assert!(max <= 1.0, "{matrix:?}, channel {channel}: {max}");
            // The same colour with another matrix is not pure.
            frame.matrix = if matrix == Matrix::Bt709 { Matrix::Bt601 } else { Matrix::Bt709 };
            let (max, _) = difference(&run(same_size(1, 1), &frame), &expected);
            assert!(max > 2.0, "{matrix:?}, channel {channel}: {max}");
        }
    }
}

#[test]
fn p010_keeps_all_ten_bits() {
    let codes: Vec<u16> = (0..1024).collect();
    let bytes = p010_bytes(&[&codes[..], &[512; 1024]].concat());
    let frame = tight(BufferLayout::P010, &bytes, 1024, 1);
    let scaled = |black: f64, range: f64| -> Vec<f32> {
        let value = |code: &u16| ((f64::from(*code) - black) / range * 255.0).clamp(0.0, 255.0) as f32;
        codes.iter().flat_map(|code| [value(code); 3]).collect()
    };
    for (range, expected) in [(Range::Full, scaled(0.0, 1023.0)), (Range::Limited, scaled(64.0, 876.0))] {
        let (max, _) = difference(&run(same_size(1024, 1), &Frame { range, ..frame }), &expected);
        // Half a level by rounding; without the last two bits it would be up to three quarters of one more.
        assert!(max <= 0.55, "{range:?}: {max}");
    }
}

#[test]
fn p010_of_eight_bit_values_equals_nv12() {
    let eight = Picture::mild_noise(37, 21, 8);
    let ten = Picture {
        bits: 10,
        planes: eight.planes.clone().map(|plane| plane.iter().map(|v| v * 4).collect()),
        ..eight
    };
    let (nv12, p010) = (eight.pack(BufferLayout::Nv12), ten.pack(BufferLayout::P010));
    let spec = raw_spec(16, 12, Fit::Stretch, Filter::BilinearAntialias);
    let expected = run(spec, &tight(BufferLayout::Nv12, &nv12, 37, 21));
    let (max, mean) = difference(&run(spec, &tight(BufferLayout::P010, &p010, 37, 21)), &expected);
    assert!(max <= 1.0 && mean <= 0.1, "{max}, {mean}");
}

#[test]
fn the_low_six_bits_of_p010_are_not_seen() {
    let picture = Picture::noise(20, 10, 10);
    let clean = picture.pack(BufferLayout::P010);
    let dirty: Vec<u8> =
        clean.iter().enumerate().map(|(at, byte)| if at % 2 == 0 { byte | 0x3f } else { *byte }).collect();
    let spec = same_size(20, 10);
    assert_eq!(
        run(spec, &tight(BufferLayout::P010, &dirty, 20, 10)),
        run(spec, &tight(BufferLayout::P010, &clean, 20, 10))
    );
}

#[test]
fn packed_layouts_of_the_same_pixels_are_equal_to_the_last_bit() {
    let picture = Picture::noise(53, 29, 8);
    for filter in [Filter::Bilinear, Filter::BilinearAntialias] {
        for (width, height) in [(16, 12), (53, 29), (90, 70)] {
            let spec = raw_spec(width, height, Fit::Stretch, filter);
            let show = |layout: BufferLayout, bytes: &[u8]| run(spec, &tight(layout, bytes, 53, 29));
            let expected = show(BufferLayout::Rgb, &picture.pack(BufferLayout::Rgb));
            for layout in [BufferLayout::Bgr, BufferLayout::Rgba, BufferLayout::Bgra, BufferLayout::Argb] {
                assert_eq!(show(layout, &picture.pack(layout)), expected, "{layout:?}");
            }
            // Grey and RGB565 equal the RGB that they stand for.
            for layout in [BufferLayout::Gray8, BufferLayout::Rgb565] {
                let rgb: Vec<u8> = picture.shown(layout, DEFAULT).iter().map(|&value| value as u8).collect();
                assert_eq!(show(layout, &picture.pack(layout)), show(BufferLayout::Rgb, &rgb), "{layout:?}");
            }
        }
    }
}

#[test]
fn padded_and_widened_packed_pixels_equal_tight_ones() {
    let (width, height) = (13, 7);
    for layout in BufferLayout::ALL.into_iter().filter(|layout| {
        !matches!(layout.format(), PixelFormat::Yuv420 | PixelFormat::P010 | PixelFormat::Yuyv)
    }) {
        let picture = Picture::noise(width, height, 8);
        let bytes = picture.pack(layout);
        let size = bytes.len() / (width * height);
        let expected = run(same_size(width, height), &tight(layout, &bytes, width, height));
        // Odd strides, too: the 16 bits of RGB565 then lie at odd addresses.
        for (pixel_stride, padding) in [(size, 1), (size, 32), (size + 1, 0), (size + 3, 5)] {
            let row_stride = width * pixel_stride + padding;
            let mut spread = vec![0xa5; (height - 1) * row_stride + (width - 1) * pixel_stride + size];
            for (at, pixel) in bytes.chunks(size).enumerate() {
                let start = at / width * row_stride + at % width * pixel_stride;
                spread[start..start + size].copy_from_slice(pixel);
            }
            let frame = layout
                .frame(&spread, width as u32, height as u32, Some(row_stride), Some(pixel_stride))
                .unwrap();
            assert_eq!(
                run(same_size(width, height), &frame),
                expected,
                "{layout:?}, {pixel_stride}, {padding}"
            );
        }
    }
}

#[test]
fn a_region_outside_the_frame_is_refused_in_every_layout() {
    for layout in BufferLayout::ALL {
        let picture = Picture::of(layout, 9, 7);
        let bytes = picture.pack(layout);
        let frame = tight(layout, &bytes, 9, 7);
        for (x, y, width, height) in [
            (9, 0, 1, 1),
            (0, 7, 1, 1),
            (8, 6, 2, 1),
            (8, 6, 1, 2),
            (1, 1, 9, 6),
            (0, 0, 0, 7),
            (u32::MAX, u32::MAX, 1, 1),
            (1, 1, u32::MAX, u32::MAX),
        ] {
            let region = rect(x, y, width, height);
            for rotation in ROTATIONS {
                let error = Frame { crop: Some(region), rotation, ..frame }.validate().unwrap_err();
                let Error::CropOutsideFrame { crop, width: 9, height: 7 } = error else {
                    panic!("{layout:?}: {error}");
                };
                assert_eq!(crop, region);
                assert!(error.hint().contains("before rotation"), "{error}");
            }
        }
        // The last pixel is inside.
        Frame { crop: Some(rect(8, 6, 1, 1)), ..frame }.validate().unwrap();
    }
}

#[test]
fn sixteen_bit_formats_say_that_strides_are_in_bytes() {
    let bytes = vec![0; 4_000_000];
    let error = Frame::p010(&bytes, 1280, 720, Some(1280)).unwrap_err();
    assert!(
        matches!(error, Error::RowStrideTooSmall { plane: "Y", row_stride: 1280, needs: 2560, .. }),
        "{error}"
    );
    assert!(error.hint().contains("in bytes"));
    let error = Frame::rgb565(&bytes, 640, 480, Some(640)).unwrap_err();
    assert!(matches!(error, Error::RowStrideTooSmall { plane: "RGB565", needs: 1280, .. }), "{error}");

    let plane = |pixel_stride| Plane { bytes: &bytes, row_stride: 64, pixel_stride };
    for (format, pixel_stride, expected) in [
        (PixelFormat::P010, 1, "2 or a multiple of it, in bytes"),
        (PixelFormat::P010, 3, "2 or a multiple of it, in bytes"),
        (PixelFormat::Rgb565, 1, "at least 2"),
        (PixelFormat::Gray8, 0, "at least 1"),
        (PixelFormat::Bgr, 2, "at least 3"),
        (PixelFormat::Argb, 3, "at least 4"),
    ] {
        let error = unchecked(format, 4, 4, plane(pixel_stride)).validate().unwrap_err();
        assert!(matches!(error, Error::WrongPixelStride { .. }), "{format}: {error}");
        assert!(error.to_string().contains(expected), "{error}");
    }
}

#[test]
fn a_buffer_one_byte_short_is_refused_unless_only_interleaved_chroma_lacks_it() {
    for layout in BufferLayout::ALL {
        let bytes = Picture::of(layout, 8, 6).pack(layout);
        let result = layout.frame(&bytes[..bytes.len() - 1], 8, 6, None, None);
        let interleaved = matches!(layout, BufferLayout::Nv12 | BufferLayout::Nv21 | BufferLayout::P010);
        assert_eq!(result.is_ok(), interleaved, "{layout:?}");
        if let Err(error) = result {
            assert!(matches!(error, Error::PlaneTooShort { .. }), "{layout:?}: {error}");
        }
    }
}

#[test]
fn layouts_are_known_by_their_names() {
    for layout in BufferLayout::ALL {
        assert_eq!(layout.name().parse::<BufferLayout>().unwrap(), layout);
    }
    let error = "uyvy".parse::<BufferLayout>().unwrap_err();
    let message = error.to_string();
    for layout in BufferLayout::ALL {
        assert!(message.contains(layout.name()), "{message}");
    }
}

#[test]
fn the_frame_functions_are_the_layouts_of_the_same_names() {
    for layout in BufferLayout::ALL {
        let bytes = Picture::of(layout, 6, 4).pack(layout);
        let frame = match layout {
            BufferLayout::I420 => Frame::i420(&bytes, 6, 4, None),
            BufferLayout::Yv12 => Frame::yv12(&bytes, 6, 4, None),
            BufferLayout::Nv12 => Frame::nv12(&bytes, 6, 4, None),
            BufferLayout::Nv21 => Frame::nv21(&bytes, 6, 4, None),
            BufferLayout::P010 => Frame::p010(&bytes, 6, 4, None),
            BufferLayout::Yuyv => Frame::yuyv(&bytes, 6, 4, None),
            BufferLayout::Bgra => Frame::bgra(&bytes, 6, 4, None),
            BufferLayout::Rgba => Frame::rgba(&bytes, 6, 4, None),
            BufferLayout::Argb => Frame::argb(&bytes, 6, 4, None),
            BufferLayout::Rgb => Frame::rgb(&bytes, 6, 4, None),
            BufferLayout::Bgr => Frame::bgr(&bytes, 6, 4, None),
            BufferLayout::Gray8 => Frame::gray8(&bytes, 6, 4, None),
            BufferLayout::Rgb565 => Frame::rgb565(&bytes, 6, 4, None),
        }
        .unwrap();
        assert_eq!(frame.format, layout.format());
        assert_eq!(
            run(same_size(6, 4), &frame),
            run(same_size(6, 4), &tight(layout, &bytes, 6, 4)),
            "{layout:?}"
        );
    }
}

#[test]
fn planes_that_a_packed_format_does_not_have_are_not_looked_at() {
    let rgb = [10, 20, 30];
    let frame = Frame::rgb(&rgb, 1, 1, None).unwrap();
    let junk = Plane { bytes: &[], row_stride: usize::MAX, pixel_stride: usize::MAX };
    let frame = Frame { planes: [frame.planes[0], junk, junk], ..frame };
    frame.validate().unwrap();
    let mut copy = FrameBuffer::new();
    copy.copy_from(&frame).unwrap();
    for frame in [frame, copy.frame()] {
        assert!(difference(&run(same_size(1, 1), &frame), &[10.0, 20.0, 30.0]).0 < 0.01);
    }
}

#[test]
fn a_preprocessor_follows_the_siting_matrix_and_format_of_each_frame() {
    let (eight, ten) = (Picture::noise(14, 10, 8), Picture::noise(14, 10, 10));
    let (nv12, p010) = (eight.pack(BufferLayout::Nv12), ten.pack(BufferLayout::P010));
    let nv12 = tight(BufferLayout::Nv12, &nv12, 14, 10);
    let frames = [
        nv12,
        Frame { chroma_siting: ChromaSiting::Left, ..nv12 },
        Frame { matrix: Matrix::Bt2020, ..nv12 },
        Frame { range: Range::Full, ..tight(BufferLayout::P010, &p010, 14, 10) },
        nv12,
    ];
    let spec = raw_spec(9, 7, Fit::Stretch, Filter::BilinearAntialias);
    let mut preprocessor = Preprocessor::new(spec).unwrap();
    let mut out = vec![0.0; preprocessor.output_len()];
    for frame in &frames {
        preprocessor.run(frame, &mut out).unwrap();
        assert_eq!(out, run(spec, frame));
    }
    assert_ne!(run(spec, &frames[0]), run(spec, &frames[1]));
}
