//! Public reports of wrong colours, strides and rotations, from libraries and apps other than this one, replayed: the
//! picture is laid out as the report says the device does, and must show its own colours. Where the fault can be said
//! with a frame, the test also checks that it would have been seen.

mod common;

use common::picture::{Picture, p010_bytes};
use common::{difference, raw_spec, rect, run, spread, yuv420};
use nearside_vision::{BufferLayout, ChromaSiting, Filter, Fit, Frame, FrameBuffer, Matrix, Range, Rotation};

const DEFAULT: (Matrix, Range, ChromaSiting) = (Matrix::Bt601, Range::Limited, ChromaSiting::Center);

/// Colours that RGB can show, of 8 bits.
fn picture(width: usize, height: usize) -> Picture {
    Picture::mild_noise(width, height, 8)
}

/// The samples of a plane as bytes.
fn bytes(picture: &Picture, plane: usize) -> Vec<u8> {
    picture.planes[plane].iter().map(|&code| code as u8).collect()
}

/// U and V, or V and U, in turns.
fn interleaved(picture: &Picture, v_first: bool) -> Vec<u8> {
    let layout = if v_first { BufferLayout::Nv21 } else { BufferLayout::Nv12 };
    picture.pack(layout)[picture.width * picture.height..].to_vec()
}

/// Every pixel of the frame as it stands in it.
fn shown(frame: &Frame<'_>) -> Vec<f32> {
    run(raw_spec(frame.width, frame.height, Fit::Stretch, Filter::Bilinear), frame)
}

/// How far the frame, or its copy, is from what the picture shows by the definition of YUV.
fn distance(frame: &Frame<'_>, picture: &Picture) -> f32 {
    let colour = (frame.matrix, frame.range, frame.chroma_siting);
    let expected: Vec<f32> =
        picture.shown(BufferLayout::I420, colour).iter().map(|&value| value as f32).collect();
    let mut copy = FrameBuffer::new();
    copy.copy_from(frame).unwrap();
    [shown(frame), shown(&copy.frame())]
        .iter()
        .map(|shown| difference(shown, &expected).0)
        .fold(0.0, f32::max)
}

#[track_caller]
fn assert_right(frame: &Frame<'_>, picture: &Picture) {
    let distance = distance(frame, picture);
    assert!(distance <= 1.0, "differs by {distance}");
}

/// What the report saw instead.
#[track_caller]
fn assert_wrong(frame: &Frame<'_>, picture: &Picture) {
    let distance = distance(frame, picture);
    assert!(distance > 20.0, "differs by {distance} only: the fault would not be seen");
}

/// A frame of one colour, given as Y, U, V.
fn colour_of(yuv: [u8; 3], matrix: Matrix, range: Range) -> [f32; 3] {
    let frame = Frame { matrix, range, ..Frame::i420(&yuv, 1, 1, None).unwrap() };
    shown(&frame).try_into().unwrap()
}

#[track_caller]
fn assert_near(actual: [f32; 3], expected: [f32; 3]) {
    let (max, _) = difference(&actual, &expected);
    // A level for codes that are rounded to bytes, and the last bit of a float.
    assert!(max <= 1.001, "{actual:?} instead of {expected:?}");
}

/// Strides.
mod strides {
    use super::*;

    /// <https://github.com/QuickBirdEng/yuvToMat/issues/5>: a Sony Xperia XZ3 gives 864x480 with row stride 896, 430
    /// 048 bytes of Y and 215 007 of U and V each, which was refused as unsupported.
    #[test]
    fn an_xperia_frame_of_width_864_with_row_stride_896_is_accepted_and_right() {
        let picture = picture(864, 480);
        let y = spread(&bytes(&picture, 0), 864, 896, 1, 0);
        let chroma = spread(&interleaved(&picture, false), 864, 896, 1, 0);
        let (u, v) = (&chroma[..215_007], &chroma[1..]);
        assert_eq!((y.len(), u.len(), v.len()), (430_048, 215_007, 215_007));
        assert_right(&yuv420(864, 480, [(&y, 896, 1), (u, 896, 2), (v, 896, 2)]), &picture);
    }

    /// <https://github.com/flutter/flutter/issues/118350> and <https://github.com/gordinmitya/yuv2buf/issues/3>: on
    /// Vivo, Xiaomi and Motorola phones 1280x720 comes with row stride 1536 on all planes and pixel stride 2 on U and
    /// V; taken for tight NV21, the picture is sheared stripes.
    #[test]
    fn a_vivo_frame_of_width_1280_with_row_stride_1536_is_not_sheared() {
        let picture = picture(1280, 720);
        let y = spread(&bytes(&picture, 0), 1280, 1536, 1, 0);
        let chroma = spread(&interleaved(&picture, true), 1280, 1536, 1, 0);
        let (v, u) = (&chroma[..chroma.len() - 1], &chroma[1..]);
        assert_right(&yuv420(1280, 720, [(&y, 1536, 1), (u, 1536, 2), (v, 1536, 2)]), &picture);

        let joined = [&y[..], u, v].concat();
        assert_wrong(&Frame::nv21(&joined, 1280, 720, None).unwrap(), &picture);
    }

    /// <https://github.com/flutter/flutter/issues/71254> and <https://github.com/brendan-duncan/image/issues/332>: an
    /// iPhone's BGRA frame of 1080x1920 has 4352 bytes a row, 1088 pixels, and 8 355 840 in all; read with 1080
    /// pixels a row it was out of range or skewed.
    #[test]
    fn an_iphone_bgra_frame_with_eight_pixels_of_padding_is_not_skewed() {
        let (width, height, row_stride) = (1080, 1920, 4352);
        let pixel = |x: usize, y: usize| [(x % 251) as u8, (y % 241) as u8, ((x + y) % 239) as u8];
        let mut bgra = vec![0; row_stride * height];
        assert_eq!(bgra.len(), 8_355_840);
        for (y, row) in bgra.chunks_mut(row_stride).enumerate() {
            for (x, bytes) in row.chunks_mut(4).take(width).enumerate() {
                let [red, green, blue] = pixel(x, y);
                bytes.copy_from_slice(&[blue, green, red, 255]);
            }
        }
        let expected: Vec<f32> =
            (0..height).flat_map(|y| (0..width).flat_map(move |x| pixel(x, y))).map(f32::from).collect();
        let frame = Frame::bgra(&bgra, 1080, 1920, Some(row_stride)).unwrap();
        assert!(difference(&shown(&frame), &expected).0 < 0.01);
        let skewed = Frame::bgra(&bgra, 1080, 1920, None).unwrap();
        assert!(difference(&shown(&skewed), &expected).0 > 20.0);
    }

    /// <https://github.com/pjsip/pjproject/issues/5248>: each plane of a `CVPixelBuffer` has its own bytes per row; the
    /// chroma plane walked with luma's gave bands of wrong colours.
    #[test]
    fn a_pixel_buffer_whose_chroma_rows_are_padded_unlike_its_luma_rows_has_no_bands() {
        let picture = picture(360, 240);
        let y = spread(&bytes(&picture, 0), 360, 384, 1, 0);
        let chroma = spread(&interleaved(&picture, false), 360, 448, 1, 0);
        let frame = |stride| {
            let (u, v) = (&chroma[..chroma.len() - 1], &chroma[1..]);
            yuv420(360, 240, [(&y, 384, 1), (u, stride, 2), (v, stride, 2)])
        };
        assert_right(&frame(448), &picture);
        assert_wrong(&frame(384), &picture);
    }

    /// <https://github.com/brendan-duncan/image/issues/245>: the Y plane of a 720x480 camera frame, used as a grey
    /// picture, has 768 bytes a row; without a stride it was out of range, and then skewed.
    #[test]
    fn the_padded_luma_of_a_camera_frame_is_a_grey_picture() {
        let luma: Vec<u8> = (0..720 * 480).map(|at: usize| ((at * 7 + at / 720 * 13) % 256) as u8).collect();
        let plane = spread(&luma, 720, 768, 1, 3);
        let frame = Frame::gray8(&plane, 720, 480, Some(768)).unwrap();
        let expected: Vec<f32> = luma.iter().flat_map(|&value| [f32::from(value); 3]).collect();
        assert!(difference(&shown(&frame), &expected).0 < 0.01);
    }

    /// <https://github.com/jiangdongguo/AndroidUSBCamera/issues/302>: chroma begins 16 rows (1280x720) or 8 rows
    /// (1920x1080) below the last row of luma; read right after it, the picture has a green bar and shifted colours.
    #[test]
    fn chroma_that_begins_some_rows_below_the_luma_gives_no_green_bar() {
        for (width, height, rows) in [(1280, 720, 16), (1920, 1080, 8)] {
            let picture = picture(width, height);
            let mut buffer = bytes(&picture, 0);
            buffer.resize(width * (height + rows), 0);
            let start = buffer.len();
            buffer.extend(interleaved(&picture, true));
            let frame = |start: usize| {
                let (y, v, u) = (&buffer[..width * height], &buffer[start..], &buffer[start + 1..]);
                yuv420(width as u32, height as u32, [(y, width, 1), (u, width, 2), (v, width, 2)])
            };
            assert_right(&frame(start), &picture);
            assert_wrong(&frame(width * height), &picture);
        }
    }
}

/// Planes that are a byte or a row short.
mod short_planes {
    use super::*;

    /// <https://github.com/pytorch/executorch/pull/21830>: CameraX on a Pixel 8a gives 640x480 with chroma planes of
    /// 153 599 bytes, views one byte apart; a check for 153 600 refused every frame. The same 153 599 for the first
    /// of them read as NV12 and the other as NV21.
    #[test]
    fn a_pixel_8a_frame_with_153_599_bytes_of_chroma_is_accepted_and_right() {
        let picture = picture(640, 480);
        let y = bytes(&picture, 0);
        for v_first in [false, true] {
            let chroma = interleaved(&picture, v_first);
            let [first, second] = [&chroma[..153_599], &chroma[1..]];
            assert_eq!((first.len(), second.len()), (153_599, 153_599));
            let [u, v] = if v_first { [second, first] } else { [first, second] };
            assert_right(&yuv420(640, 480, [(&y, 640, 1), (u, 640, 2), (v, 640, 2)]), &picture);
        }
        // One buffer of which the last chroma byte is missing: only the pixels that it colours, those of the last two
        // columns and rows and their neighbours, may differ, and they are close to the sample before.
        let whole = picture.pack(BufferLayout::Nv12);
        let cut = Frame::nv12(&whole[..whole.len() - 1], 640, 480, None).unwrap();
        let whole = Frame::nv12(&whole, 640, 480, None).unwrap();
        let (cut, whole) = (shown(&cut), shown(&whole));
        for (at, (cut, whole)) in cut.chunks(3).zip(whole.chunks(3)).enumerate() {
            if at % 640 < 637 || at / 640 < 477 {
                assert_eq!(cut, whole, "pixel {at}");
            }
        }
    }

    /// <https://github.com/crow-misia/libyuv-android/issues/132>: NV21 taken from the U view misses the first V, so
    /// that every U was paired with the V of the next column; NV12 taken from it misses the last V, and four pixels
    /// turned yellow.
    #[test]
    fn u_and_v_are_paired_by_their_own_views_and_the_last_pixels_are_not_yellow() {
        let picture = picture(64, 48);
        let y = bytes(&picture, 0);
        let chroma = interleaved(&picture, true);
        let (v, u) = (&chroma[..chroma.len() - 1], &chroma[1..]);
        assert_right(&yuv420(64, 48, [(&y, 64, 1), (u, 64, 2), (v, 64, 2)]), &picture);
        // As it was done: the bytes of the U view as U V U V….
        let shifted = [&y[..], u].concat();
        assert_wrong(&Frame::nv12(&shifted, 64, 48, None).unwrap(), &picture);

        // A grey picture stays grey without its last byte.
        let grey = vec![128; 64 * 48 * 3 / 2 - 1];
        let frame = Frame::nv21(&grey, 64, 48, None).unwrap();
        let pixels = shown(&frame);
        assert!(pixels.chunks(3).all(|pixel| pixel == &pixels[..3]));
        assert!((pixels[0] - pixels[2]).abs() < 0.01);
    }

    /// <https://github.com/descampsa/yuv2rgb/issues/13> and <https://github.com/NVIDIA/nvvl/issues/37>: at an odd
    /// height the last row came out in other colours; of black frames the last column was (0, 77, 0).
    #[test]
    fn the_last_row_and_column_of_odd_sizes_have_their_own_colours() {
        for (width, height) in [(80, 69), (81, 69), (81, 70), (1, 1), (3, 1), (1, 3)] {
            let picture = picture(width, height);
            for layout in [BufferLayout::I420, BufferLayout::Nv12, BufferLayout::Nv21, BufferLayout::Yv12] {
                let packed = picture.pack(layout);
                let frame = layout.frame(&packed, width as u32, height as u32, None, None).unwrap();
                assert_right(&frame, &picture);
            }
            // Black, with nothing behind it that could be mistaken for chroma.
            let (luma, chroma) = (width * height, width.div_ceil(2) * height.div_ceil(2));
            let black = [vec![16; luma], vec![128; 2 * chroma]].concat();
            let frame = Frame::nv12(&black, width as u32, height as u32, None).unwrap();
            assert!(shown(&frame).iter().all(|&value| value < 0.01), "{width}x{height}");
        }
    }

    /// <https://github.com/Intel-Media-SDK/MediaSDK/pull/1742> and
    /// <https://github.com/Intel-Media-SDK/MediaSDK/pull/1897>: of P010 with an odd height or width the last row or
    /// column of chroma was lost.
    #[test]
    fn p010_of_odd_sizes_keeps_its_last_row_and_column_of_chroma() {
        for (width, height) in [(321, 241), (320, 241), (321, 240), (1, 1)] {
            let picture = Picture::mild_noise(width, height, 10);
            let packed = picture.pack(BufferLayout::P010);
            assert_eq!(packed.len(), 2 * width * height + 4 * width.div_ceil(2) * height.div_ceil(2));
            assert_right(&Frame::p010(&packed, width as u32, height as u32, None).unwrap(), &picture);
        }
    }
}

/// Which of the chroma planes is which.
mod chroma_order {
    use super::*;

    /// <https://github.com/opencv/opencv/issues/14477> and <https://github.com/opencv/opencv/pull/14505>: whether V
    /// or U comes first depends on the device; assuming one swapped red and blue, or read beyond the allocation.
    #[test]
    fn red_stays_red_whichever_of_u_and_v_comes_first() {
        // Red by BT.601, limited range: Y 81, U 90, V 240.
        let y = [81; 8 * 6];
        for v_first in [false, true] {
            let chroma = if v_first { [240, 90] } else { [90, 240] }.repeat(4 * 3);
            let [first, second] = [&chroma[..23], &chroma[1..]];
            let [u, v] = if v_first { [second, first] } else { [first, second] };
            let pixels = shown(&yuv420(8, 6, [(&y, 8, 1), (u, 8, 2), (v, 8, 2)]));
            for pixel in pixels.chunks(3) {
                assert_near(pixel.try_into().unwrap(), [255.0, 0.0, 0.0]);
            }
            // Swapped, it is blue.
            let swapped = shown(&yuv420(8, 6, [(&y, 8, 1), (v, 8, 2), (u, 8, 2)]));
            assert!(swapped[2] > 200.0 && swapped[0] < 50.0, "{swapped:?}");
        }
    }

    /// <https://github.com/opencv/opencv/issues/13526>: a Moto C Plus gives `YUV_420_888` with pixel stride 1; taken
    /// for NV21, the preview was green and purple. The fix, <https://github.com/opencv/opencv/pull/14342>, adds that
    /// at 720x480 the chroma rows are wider than their 360 samples.
    #[test]
    fn planar_chroma_with_padded_rows_is_not_taken_for_interleaved() {
        let picture = picture(720, 480);
        let y = bytes(&picture, 0);
        let [u, v] = [1, 2].map(|plane| spread(&bytes(&picture, plane), 360, 368, 1, 0));
        assert_right(&yuv420(720, 480, [(&y, 720, 1), (&u, 368, 1), (&v, 368, 1)]), &picture);

        let as_nv21 = [&y[..], &bytes(&picture, 1), &bytes(&picture, 2)].concat();
        assert_wrong(&Frame::nv21(&as_nv21, 720, 480, None).unwrap(), &picture);
    }

    /// <https://github.com/pjsip/pjproject/issues/4980>: with a YV12 allocation behind it (Rockchip, Camera2 LEGACY),
    /// V lies between Y and U; U was written over V and everything turned purple.
    #[test]
    fn v_between_y_and_u_in_memory_is_not_purple() {
        let picture = picture(320, 240);
        let buffer = picture.pack(BufferLayout::Yv12);
        let (y, v, u) = (&buffer[..76_800], &buffer[76_800..96_000], &buffer[96_000..]);
        assert_right(&yuv420(320, 240, [(y, 320, 1), (u, 160, 1), (v, 160, 1)]), &picture);
        assert_right(&Frame::yv12(&buffer, 320, 240, None).unwrap(), &picture);
        // Both chroma planes U, as it was.
        assert_wrong(&yuv420(320, 240, [(y, 320, 1), (u, 160, 1), (u, 160, 1)]), &picture);
    }
}

/// Matrices, ranges, channel orders.
mod colours {
    use super::*;

    /// <https://github.com/CasparCG/server/pull/1774>: the BT.601 matrix had -0.509 from Cr to green instead of
    /// -0.714136. Greys, red and blue were perfect; only saturated colours show it.
    #[test]
    fn saturated_colours_have_the_green_of_bt_601() {
        for (yuv, rgb) in [
            ([81, 90, 240], [255.0, 0.0, 0.0]),
            ([145, 54, 34], [0.0, 255.0, 0.0]),
            ([41, 240, 110], [0.0, 0.0, 255.0]),
            ([210, 16, 146], [255.0, 255.0, 0.0]),
            ([106, 202, 222], [255.0, 0.0, 255.0]),
            // Unclamped: Y 126, V 180 gives 110/219*255 less 0.714136*52/224*255 of green.
            ([126, 128, 180], [211.0, 85.8, 128.1]),
        ] {
            assert_near(colour_of(yuv, Matrix::Bt601, Range::Limited), rgb);
        }
    }

    /// <https://github.com/IENT/YUView/issues/550> and <https://github.com/julianxhokaxhiu/FFNx/issues/535>:
    /// full-range white was shown as 235, and 16 was taken off full-range luma.
    #[test]
    fn full_range_black_and_white_are_0_and_255() {
        for matrix in [Matrix::Bt601, Matrix::Bt709, Matrix::Bt2020] {
            for grey in [0, 1, 16, 77, 235, 254, 255] {
                assert_near(colour_of([grey, 128, 128], matrix, Range::Full), [grey.into(); 3]);
            }
            assert_near(colour_of([16, 128, 128], matrix, Range::Limited), [0.0; 3]);
            assert_near(colour_of([235, 128, 128], matrix, Range::Limited), [255.0; 3]);
        }
        let washed_out = colour_of([16, 128, 128], Matrix::Bt601, Range::Full);
        assert!(washed_out[0] > 15.0);
    }

    /// <https://github.com/NVIDIA/VideoProcessingFramework/issues/209> and
    /// <https://github.com/RenderHeads/UnityPlugin-AVProDeckLink/issues/84>: BT.601 video decoded by BT.709, and the
    /// other way round, has other saturation: pure green is off by dozens of levels.
    #[test]
    fn the_matrix_of_the_frame_is_the_one_that_is_used() {
        // The eight-bit codes of pure green by each recommendation, limited range.
        let greens =
            [(Matrix::Bt601, [145, 54, 34]), (Matrix::Bt709, [173, 42, 26]), (Matrix::Bt2020, [164, 47, 25])];
        for (matrix, yuv) in greens {
            // Rounded to bytes, the codes are themselves up to two levels off.
            let (max, _) = difference(&colour_of(yuv, matrix, Range::Limited), &[0.0, 255.0, 0.0]);
            assert!(max <= 2.0, "{matrix:?}: {max}");
        }
        let wrong = colour_of(greens[0].1, Matrix::Bt709, Range::Limited);
        assert!(wrong[1] < 225.0, "{wrong:?}");
    }

    /// <https://github.com/CasparCG/server/pull/1780>: chroma on the even columns (H.264, ProRes, DNxHD) was sampled
    /// as if it sat between them. An even column next to an edge must carry the chroma of its own side unblended.
    #[test]
    fn chroma_sited_left_is_not_blended_into_even_columns() {
        // Grey to the left, red to the right, of the same luma; the edge is between the chroma samples 3 and 4.
        let (columns, y) = (8, [110; 16]);
        let v: Vec<u8> = (0..columns).map(|at| if at < 4 { 128 } else { 190 }).collect();
        let planes = [(&y[..], 16, 1), (&[128; 8][..], 8, 1), (&v[..], 8, 1)];
        let frame = Frame { chroma_siting: ChromaSiting::Left, ..yuv420(16, 1, planes) };
        let reds: Vec<f32> = shown(&frame).chunks(3).map(|pixel| pixel[0]).collect();
        let (grey, red) = (reds[0], reds[15]);
        assert!(red - grey > 80.0);
        for (column, &value) in reds.iter().enumerate() {
            let expected = match column {
                0..=6 => grey,
                7 => f32::midpoint(grey, red),
                _ => red,
            };
            assert!((value - expected).abs() <= 1.0, "column {column}: {value} instead of {expected}");
        }
        // In the centre, columns 7 and 8 are both blended.
        let centre = shown(&Frame { chroma_siting: ChromaSiting::Center, ..frame });
        assert!(centre[3 * 8] < red - 10.0);
    }

    /// <https://github.com/opencv/opencv/issues/10281>: the pixel (181, 178, 165) of an Android bitmap in RGB565 was
    /// read as (176, 176, 160): bits were shifted up without being filled below, so that nothing is ever white.
    #[test]
    fn rgb565_is_widened_as_android_shows_it() {
        let pixel = |red: u16, green: u16, blue: u16| (red << 11 | green << 5 | blue).to_le_bytes();
        for (bytes, rgb) in [
            (pixel(22, 44, 20), [181.0, 178.0, 165.0]),
            (pixel(31, 63, 31), [255.0; 3]),
            (pixel(0, 0, 0), [0.0; 3]),
        ] {
            assert_near(shown(&Frame::rgb565(&bytes, 1, 1, None).unwrap()).try_into().unwrap(), rgb);
        }
        // Bytes swapped, as a big-endian reader has them, it is another colour.
        let [low, high] = pixel(22, 44, 20);
        assert!(shown(&Frame::rgb565(&[high, low], 1, 1, None).unwrap())[0] < 160.0);
    }

    /// <https://github.com/mrousavy/react-native-nitro-image/pull/158> and
    /// <https://github.com/AndroidDeveloperLB/AndroidJniBitmapOperations/issues/11>: the memory of an `ARGB_8888`
    /// bitmap is red, green, blue, alpha; taken by its name or for BGRA, red and blue change places.
    #[test]
    fn an_argb_8888_bitmap_is_rgba_in_memory() {
        // The colour 0xFFE07A1F (alpha, red, green, blue) as `copyPixelsToBuffer` gives it.
        let memory = [0xe0, 0x7a, 0x1f, 0xff];
        let colour = [224.0, 122.0, 31.0];
        assert_near(shown(&Frame::rgba(&memory, 1, 1, None).unwrap()).try_into().unwrap(), colour);
        let swapped = shown(&Frame::bgra(&memory, 1, 1, None).unwrap());
        assert_near(swapped.try_into().unwrap(), [31.0, 122.0, 224.0]);
        // What is alpha first in memory has a format of its own.
        let memory = [0xff, 0xe0, 0x7a, 0x1f];
        assert_near(shown(&Frame::argb(&memory, 1, 1, None).unwrap()).try_into().unwrap(), colour);
    }

    /// <https://github.com/obsproject/obs-studio/pull/6498>, <https://github.com/haasn/libplacebo/pull/239> and
    /// <https://github.com/jellyfin/jellyfin-ffmpeg/pull/453>: values of P010 are in the high ten bits. Read from the
    /// low ones the picture is dark and green; what some encoders leave in the low six is not part of the colour.
    #[test]
    fn p010_values_are_read_from_the_high_ten_bits() {
        // Pure white and pure green by BT.2020, limited range.
        for (codes, rgb) in [([940, 512, 512], [255.0; 3]), ([658, 189, 100], [0.0, 255.0, 0.0])] {
            let clean = p010_bytes(&codes);
            let dirty: Vec<u8> = clean.chunks(2).flat_map(|pair| [pair[0] | 0x3f, pair[1]]).collect();
            for bytes in [clean, dirty] {
                let frame = Frame { matrix: Matrix::Bt2020, ..Frame::p010(&bytes, 1, 1, None).unwrap() };
                assert_near(shown(&frame).try_into().unwrap(), rgb);
            }
            // Low ten bits, as `yuv420p10` has them, are another format: they show nothing but darkness.
            let low: Vec<u8> = codes.iter().flat_map(|code: &u16| code.to_le_bytes()).collect();
            let frame = Frame { matrix: Matrix::Bt2020, ..Frame::p010(&low, 1, 1, None).unwrap() };
            assert!(shown(&frame)[0] < 10.0);
        }
    }

    /// <https://github.com/crow-misia/libyuv-android/issues/212> and <https://github.com/rigaya/NVEnc/issues/772>: a
    /// crop at an odd offset paired U with V, or moved the colours by a pixel, so that other tools refuse odd crops.
    #[test]
    fn a_crop_at_an_odd_offset_keeps_colours_where_they_are() {
        let picture = picture(64, 48);
        let expected = picture.shown(BufferLayout::Nv12, DEFAULT);
        let nv12 = picture.pack(BufferLayout::Nv12);
        for (left, top) in [(0, 1), (1, 0), (1, 1), (31, 17), (62, 46)] {
            let (columns, rows) = (64 - left, 48 - top);
            let crop = Some(rect(left as u32, top as u32, columns as u32, rows as u32));
            let frame = Frame { crop, ..Frame::nv12(&nv12, 64, 48, None).unwrap() };
            let spec = raw_spec(columns as u32, rows as u32, Fit::Stretch, Filter::Bilinear);
            let cut: Vec<f32> = (top..48)
                .flat_map(|y| {
                    expected[3 * (64 * y + left)..3 * 64 * (y + 1)].iter().map(|&value| value as f32)
                })
                .collect();
            let (max, _) = difference(&run(spec, &frame), &cut);
            assert!(max <= 1.0, "({left}, {top}): {max}");
        }
    }
}

/// Rotations and mirrors.
mod rotations {
    use super::*;

    /// The scene as a person sees it: 3 wide, 4 high, every pixel another colour.
    const SCENE: (usize, usize) = (3, 4);

    fn scene(x: usize, y: usize) -> [u8; 3] {
        [60 * x as u8 + 20, 55 * y as u8 + 15, 200 - 60 * x as u8]
    }

    /// The scene as pixels, each given by where it comes from.
    fn picture(width: usize, height: usize, from: impl Fn(usize, usize) -> (usize, usize)) -> Vec<u8> {
        let pixels = (0..height).flat_map(|y| (0..width).map(move |x| (x, y)));
        pixels.map(|(x, y)| from(x, y)).flat_map(|(x, y)| scene(x, y)).collect()
    }

    /// What a sensor sees whose picture must be turned clockwise by a quarter: its rows run up the scene's columns.
    fn back_sensor() -> Vec<u8> {
        let (width, height) = SCENE;
        picture(height, width, |x, y| (width - 1 - y, x))
    }

    /// What a sensor sees whose picture must be turned anticlockwise by a quarter.
    fn front_sensor() -> Vec<u8> {
        let (_, height) = SCENE;
        picture(height, SCENE.0, |x, y| (y, height - 1 - x))
    }

    fn seen(sensor: &[u8], rotation: Rotation, mirror: bool) -> Vec<f32> {
        let frame = Frame { rotation, mirror, ..Frame::rgb(sensor, 4, 3, None).unwrap() };
        run(raw_spec(3, 4, Fit::Stretch, Filter::Bilinear), &frame)
    }

    fn floats(bytes: &[u8]) -> Vec<f32> {
        bytes.iter().map(|&byte| byte.into()).collect()
    }

    /// <https://github.com/ultralytics/yolo-flutter-app/pull/291>: on Android back cameras are mounted at 90 degrees
    /// and front cameras at 270; the same turn for both gave the model people who stand on their heads.
    #[test]
    fn a_front_camera_mounted_at_270_degrees_is_not_upside_down() {
        let (width, height) = SCENE;
        let upright = floats(&picture(width, height, |x, y| (x, y)));
        assert!(difference(&seen(&back_sensor(), Rotation::R90, false), &upright).0 < 0.01);
        assert!(difference(&seen(&front_sensor(), Rotation::R270, false), &upright).0 < 0.01);
        let upside_down = floats(&picture(width, height, |x, y| (width - 1 - x, height - 1 - y)));
        assert!(difference(&seen(&front_sensor(), Rotation::R90, false), &upside_down).0 < 0.01);
    }

    /// <https://github.com/googlesamples/mlkit/issues/396> and
    /// <https://github.com/rodgomesc/vision-camera-face-detector/issues/26>: front cameras show a mirrored preview
    /// but give frames that are not, so that left and right change places. A frame is mirrored only if asked, and
    /// then the upright picture is: left to right, not, as a flip of the sensor's rows would, top to bottom.
    #[test]
    fn mirroring_swaps_left_and_right_of_the_upright_picture() {
        let (width, height) = SCENE;
        let mirrored = floats(&picture(width, height, |x, y| (width - 1 - x, y)));
        assert!(difference(&seen(&front_sensor(), Rotation::R270, true), &mirrored).0 < 0.01);
        assert!(difference(&seen(&back_sensor(), Rotation::R90, true), &mirrored).0 < 0.01);
        let top_to_bottom = floats(&picture(width, height, |x, y| (x, height - 1 - y)));
        assert!(difference(&seen(&front_sensor(), Rotation::R270, true), &top_to_bottom).0 > 20.0);
    }

    /// <https://github.com/margelo/react-native-vision-camera/issues/2905> and
    /// <https://github.com/shaqian/flutter_tflite/issues/207>: frames are as wide as the sensor whichever way the
    /// phone is held, and models fail on the lying picture. Turned, it has the phone's shape: letterboxed, the bars
    /// are left and right of a portrait.
    #[test]
    fn a_landscape_sensor_held_upright_gives_a_portrait() {
        let (luma, grey) = (vec![180; 160 * 90], vec![128; 80 * 45]);
        let planes = [&luma, &grey, &grey].map(|bytes| &bytes[..]);
        let frame = yuv420(160, 90, [(planes[0], 160, 1), (planes[1], 80, 1), (planes[2], 80, 1)]);
        let spec = raw_spec(32, 32, Fit::Letterbox { pad: [7, 8, 9] }, Filter::BilinearAntialias);
        let is_bar = |pixels: &[f32], x: usize, y: usize| {
            difference(&pixels[3 * (32 * y + x)..][..3], &[7.0, 8.0, 9.0]).0 < 0.01
        };
        let portrait = run(spec, &Frame { rotation: Rotation::R90, ..frame });
        let landscape = run(spec, &frame);
        // 90x160 becomes 18x32: bars of 7 pixels.
        for at in 0..32 {
            assert_eq!(is_bar(&portrait, at, 16), !(7..25).contains(&at), "column {at}");
            assert!(!is_bar(&portrait, 16, at));
            assert_eq!(is_bar(&landscape, 16, at), !(7..25).contains(&at), "row {at}");
        }
    }
}
