//! The owned copy of a frame.

mod common;

use common::{Yuv, raw_spec, rect, run, yuv420};
use nearside_vision::{ChromaSiting, Error, Filter, Fit, Frame, FrameBuffer, Matrix, Range, Rotation};

#[test]
fn a_copy_has_the_pixels_and_the_facts_of_its_frame() {
    let nv21 = Yuv::wave(64, 48).semi_planar(true);
    let frame = Frame {
        crop: Some(rect(3, 5, 31, 17)),
        rotation: Rotation::R270,
        mirror: true,
        matrix: Matrix::Bt709,
        range: Range::Full,
        chroma_siting: ChromaSiting::Left,
        timestamp_ns: 42,
        ..Frame::nv21(&nv21, 64, 48, None).unwrap()
    };
    let mut buffer = FrameBuffer::new();
    buffer.copy_from(&frame).unwrap();
    let copy = buffer.frame();
    assert_eq!((copy.format, copy.width, copy.height, copy.crop), (frame.format, 64, 48, frame.crop));
    assert_eq!(
        (copy.rotation, copy.mirror, copy.matrix, copy.range),
        (Rotation::R270, true, Matrix::Bt709, Range::Full)
    );
    assert_eq!((copy.chroma_siting, copy.timestamp_ns), (ChromaSiting::Left, 42));
    let spec = raw_spec(20, 16, Fit::Stretch, Filter::BilinearAntialias);
    assert_eq!(run(spec, &copy), run(spec, &frame));
}

#[test]
fn interleaved_views_are_copied_once_and_still_share_memory() {
    let nv12 = Yuv::wave(640, 480).semi_planar(false);
    let frame = Frame::nv12(&nv12, 640, 480, None).unwrap();
    let mut buffer = FrameBuffer::new();
    buffer.copy_from(&frame).unwrap();
    let [y, u, v] = buffer.frame().planes;
    assert_eq!(v.bytes.as_ptr().addr(), u.bytes.as_ptr().addr() + 1);
    assert_eq!(u.bytes.as_ptr().addr(), y.bytes.as_ptr().addr() + 640 * 480);
    assert_eq!((u.bytes.len(), v.bytes.len()), (153_599, 153_599));
}

#[test]
fn bytes_beyond_the_last_sample_are_left_out() {
    let whole = vec![50; 3 * 1000];
    let planes = [&whole[..], &whole[100..], &whole[200..]];
    let frame = yuv420(10, 10, [(planes[0], 10, 1), (planes[1], 5, 1), (planes[2], 5, 1)]);
    let mut buffer = FrameBuffer::new();
    buffer.copy_from(&frame).unwrap();
    assert_eq!(buffer.frame().planes.map(|plane| plane.bytes.len()), [100, 25, 25]);
}

#[test]
fn an_empty_buffer_gives_a_frame_that_is_refused() {
    assert!(matches!(FrameBuffer::new().frame().validate(), Err(Error::EmptyFrame { width: 0, height: 0 })));
}

#[test]
fn a_frame_that_is_refused_leaves_the_last_one_in_place() {
    let rgb = [1, 2, 3];
    let frame = Frame::rgb(&rgb, 1, 1, None).unwrap();
    let mut buffer = FrameBuffer::new();
    buffer.copy_from(&frame).unwrap();
    assert!(buffer.copy_from(&Frame { width: 2, ..frame }).is_err());
    assert_eq!(buffer.frame().planes[0].bytes, rgb);
}

#[test]
fn a_last_sample_that_only_the_other_view_has_is_copied() {
    let y = [100; 16 * 16];
    let chroma: Vec<u8> = (0..116).map(|at| at as u8 * 2).collect();
    // Two columns and eight rows, U one byte after V: U lacks its last sample, which V's view holds.
    let (v, u) = (&chroma[..116], &chroma[1..115]);
    let frame = common::yuv420(4, 16, [(&y, 16, 1), (u, 16, 2), (v, 16, 2)]);
    let mut buffer = FrameBuffer::new();
    buffer.copy_from(&frame).unwrap();
    let spec = common::raw_spec(4, 16, nearside_vision::Fit::Stretch, nearside_vision::Filter::Bilinear);
    assert_eq!(common::run(spec, &buffer.frame()), common::run(spec, &frame));
}
