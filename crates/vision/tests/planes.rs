//! Planes as real devices give them, of 8 bits and of P010: none refused, none read out of bounds, the right pixels.

mod common;

use std::panic::Location;

use common::picture::{Picture, p010_bytes};
use common::{raw_spec, run};
use nearside_vision::{BufferLayout, Error, Filter, Fit, Frame, FrameBuffer, PixelFormat, Plane};
use proptest::prelude::*;

/// The two kinds of YUV 4:2:0 planes.
#[derive(Clone, Copy, Debug)]
enum Kind {
    Yuv420,
    P010,
}

const KINDS: [Kind; 2] = [Kind::Yuv420, Kind::P010];

impl Kind {
    /// Bytes of a sample.
    fn unit(self) -> usize {
        match self {
            Self::Yuv420 => 1,
            Self::P010 => 2,
        }
    }

    fn picture(self, width: usize, height: usize) -> Picture {
        Picture::noise(width, height, if self.unit() == 2 { 10 } else { 8 })
    }

    fn bytes(self, codes: &[u16]) -> Vec<u8> {
        match self {
            Self::Yuv420 => codes.iter().map(|&code| code as u8).collect(),
            Self::P010 => p010_bytes(codes),
        }
    }

    /// A plane of `columns` samples with strides in bytes, junk between them, ending with its last sample.
    fn spread(self, codes: &[u16], columns: usize, row_stride: usize, pixel_stride: usize) -> Vec<u8> {
        let (samples, unit) = (self.bytes(codes), self.unit());
        let rows = codes.len() / columns;
        let mut plane = vec![0xe7; (rows - 1) * row_stride + (columns - 1) * pixel_stride + unit];
        for (at, sample) in samples.chunks(unit).enumerate() {
            let start = at / columns * row_stride + at % columns * pixel_stride;
            plane[start..start + unit].copy_from_slice(sample);
        }
        plane
    }

    /// U and V, or V and U, in turns.
    fn interleaved(self, picture: &Picture, v_first: bool, row_stride: usize) -> Vec<u8> {
        let (first, second) = if v_first { (2, 1) } else { (1, 2) };
        let pairs = picture.planes[first].iter().zip(&picture.planes[second]);
        let pairs: Vec<u16> = pairs.flat_map(|(&first, &second)| [first, second]).collect();
        self.spread(&pairs, 2 * picture.chroma_columns(), row_stride, self.unit())
    }

    /// A frame of slices with their row and pixel strides. It must be accepted.
    #[track_caller]
    fn frame<'a>(self, picture: &Picture, planes: [(&'a [u8], usize, usize); 3]) -> Frame<'a> {
        let planes =
            planes.map(|(bytes, row_stride, pixel_stride)| Plane { bytes, row_stride, pixel_stride });
        let (width, height) = (picture.width as u32, picture.height as u32);
        match self {
            Self::Yuv420 => Frame::yuv420(planes, width, height),
            Self::P010 => Frame::p010_planes(planes, width, height),
        }
        .unwrap()
    }

    /// The picture in one buffer without padding: what every other layout of it must equal to the last bit.
    fn expected(self, picture: &Picture) -> [Vec<f32>; 2] {
        let layout = match self {
            Self::Yuv420 => BufferLayout::I420,
            Self::P010 => BufferLayout::P010,
        };
        let bytes = picture.pack(layout);
        shown(&layout.frame(&bytes, picture.width as u32, picture.height as u32, None, None).unwrap())
    }
}

/// The frame resized, and every pixel of it as it is.
fn shown(frame: &Frame<'_>) -> [Vec<f32>; 2] {
    let whole = raw_spec(frame.width, frame.height, Fit::Stretch, Filter::Bilinear);
    [raw_spec(20, 16, Fit::Stretch, Filter::BilinearAntialias), whole].map(|spec| run(spec, frame))
}

/// The frame, and its copy, show the picture.
#[track_caller]
fn assert_shows(kind: Kind, picture: &Picture, frame: &Frame<'_>) {
    let expected = kind.expected(picture);
    let place = Location::caller();
    assert!(shown(frame) == expected, "{kind:?} at {place}: other pixels");
    let mut copy = FrameBuffer::new();
    copy.copy_from(frame).unwrap();
    assert!(shown(&copy.frame()) == expected, "{kind:?} at {place}: other pixels in the copy");
}

/// A tight luma plane.
fn luma(kind: Kind, picture: &Picture) -> Vec<u8> {
    kind.bytes(&picture.planes[0])
}

#[test]
fn a_last_row_may_end_with_its_last_sample() {
    for kind in KINDS {
        // The Sony Xperia's sizes: 864x480 with row stride 896.
        let picture = kind.picture(864, 480);
        let unit = kind.unit();
        let y = kind.spread(&picture.planes[0], 864, 896 * unit, unit);
        let chroma = kind.interleaved(&picture, false, 896 * unit);
        assert_eq!((y.len(), chroma.len()), (430_048 * unit, 215_008 * unit));
        let stride = (896 * unit, 2 * unit);
        for (u, v) in [
            (&chroma[..], &chroma[unit..]),
            (&chroma[..215_007 * unit], &chroma[unit..]),
            (&chroma[..215_007 * unit], &chroma[unit..215_007 * unit]),
        ] {
            let frame = kind
                .frame(&picture, [(&y, stride.0, unit), (u, stride.0, stride.1), (v, stride.0, stride.1)]);
            if v.len() == 215_007 * unit {
                assert_shows(kind, &picture, &frame);
            } else {
                // The last V is missing.
                let mut repeated = picture.clone();
                let last = repeated.planes[2].len() - 1;
                repeated.planes[2][last] = repeated.planes[2][last - 1];
                assert_shows(kind, &repeated, &frame);
            }
        }
    }
}

#[test]
fn row_stride_1536_for_width_1280_with_pixel_stride_2_is_read_right() {
    for kind in KINDS {
        let picture = kind.picture(1280, 96);
        let (unit, stride) = (kind.unit(), 1536 * kind.unit());
        let y = kind.spread(&picture.planes[0], 1280, stride, unit);
        for v_first in [false, true] {
            let chroma = kind.interleaved(&picture, v_first, stride);
            let [first, second] = [&chroma[..chroma.len() - unit], &chroma[unit..]];
            let [u, v] = if v_first { [second, first] } else { [first, second] };
            let planes = [(&y[..], stride, unit), (u, stride, 2 * unit), (v, stride, 2 * unit)];
            assert_shows(kind, &picture, &kind.frame(&picture, planes));
        }
        // Each with whole rows at the end.
        let mut whole = y.clone();
        whole.resize(stride * 96, 1);
        let mut chroma = kind.interleaved(&picture, false, stride);
        chroma.resize(stride * 48, 1);
        let planes =
            [(&whole[..], stride, unit), (&chroma, stride, 2 * unit), (&chroma[unit..], stride, 2 * unit)];
        assert_shows(kind, &picture, &kind.frame(&picture, planes));
    }
}

#[test]
fn views_one_sample_apart_may_come_in_either_order_and_length() {
    for kind in KINDS {
        let unit = kind.unit();
        for (width, height) in [(640, 480), (7, 5), (2, 2), (2, 9), (9, 2), (1, 1)] {
            let picture = kind.picture(width, height);
            let y = luma(kind, &picture);
            let row_stride = 2 * unit * picture.chroma_columns();
            for v_first in [false, true] {
                let chroma = kind.interleaved(&picture, v_first, row_stride);
                let end = chroma.len();
                for (first, second) in [
                    (0..end, unit..end),
                    // Each ends with its own last sample, as Android's do: 153 599 bytes for 640x480.
                    (0..end - unit, unit..end),
                ] {
                    let views = [&chroma[first], &chroma[second]];
                    let [u, v] = if v_first { [views[1], views[0]] } else { views };
                    let chroma = |view| (view, row_stride, 2 * unit);
                    let frame = kind.frame(&picture, [(&y, width * unit, unit), chroma(u), chroma(v)]);
                    assert_shows(kind, &picture, &frame);
                    // The same as allocations of their own.
                    let (u, v) = (u.to_vec(), v.to_vec());
                    let frame = kind.frame(&picture, [(&y, width * unit, unit), chroma(&u), chroma(&v)]);
                    assert_shows(kind, &picture, &frame);
                }
            }
        }
    }
}

#[test]
fn a_last_chroma_sample_that_is_missing_or_cut_takes_the_value_of_its_neighbour() {
    for kind in KINDS {
        let unit = kind.unit();
        for (width, height) in [(640, 480), (7, 5), (2, 6)] {
            let picture = kind.picture(width, height);
            let y = luma(kind, &picture);
            let row_stride = 2 * unit * picture.chroma_columns() + 6;
            for v_first in [false, true] {
                // To the left, or above in a single column.
                let mut repeated = picture.clone();
                let plane = &mut repeated.planes[if v_first { 1 } else { 2 }];
                let last = plane.len() - 1;
                plane[last] = plane[last - 1];

                let chroma = kind.interleaved(&picture, v_first, row_stride);
                for lacking in 1..=unit {
                    let cut = &chroma[..chroma.len() - lacking];
                    for first in [cut, &cut[..chroma.len() - unit]] {
                        let second = &cut[unit..];
                        let [u, v] = if v_first { [second, first] } else { [first, second] };
                        let chroma = |view| (view, row_stride, 2 * unit);
                        let frame = kind.frame(&picture, [(&y, width * unit, unit), chroma(u), chroma(v)]);
                        assert_shows(kind, &repeated, &frame);
                        let (u, v) = (u.to_vec(), v.to_vec());
                        let frame = kind.frame(&picture, [(&y, width * unit, unit), chroma(&u), chroma(&v)]);
                        assert_shows(kind, &repeated, &frame);
                    }
                }
            }
        }
    }
}

#[test]
fn two_missing_chroma_samples_are_too_many() {
    for kind in KINDS {
        let unit = kind.unit();
        let picture = kind.picture(8, 6);
        let (y, chroma) = (luma(kind, &picture), kind.interleaved(&picture, false, 8 * unit));
        let plane = |bytes, pixel_stride| Plane { bytes, row_stride: 8 * unit, pixel_stride };
        let v = &chroma[unit..chroma.len() - unit - 1];
        let planes = [plane(&y, unit), plane(&chroma, 2 * unit), plane(v, 2 * unit)];
        let error = match kind {
            Kind::Yuv420 => Frame::yuv420(planes, 8, 6),
            Kind::P010 => Frame::p010_planes(planes, 8, 6),
        }
        .unwrap_err();
        assert!(matches!(error, Error::PlaneTooShort { plane: "V", .. }), "{error}");
    }
}

#[test]
fn every_plane_may_have_strides_of_its_own() {
    for kind in KINDS {
        let unit = kind.unit();
        for (width, height) in [(19, 13), (20, 14), (1, 7), (33, 2)] {
            let picture = kind.picture(width, height);
            let columns = picture.chroma_columns();
            // Pixel strides of Y, U and V in samples, and padding in bytes: odd ones put samples of P010 at odd
            // addresses.
            for (pixel_strides, padding) in [
                ([1, 1, 1], [0, 0, 0]),
                ([2, 4, 2], [0, 7, 12]),
                ([2, 3, 5], [1, 1, 3]),
                ([1, 2, 2], [3, 64, 1]),
            ] {
                let pixel_strides = pixel_strides.map(|samples: usize| samples * unit);
                let counts = [width, columns, columns];
                let strides = [0, 1, 2].map(|at| counts[at] * pixel_strides[at] + padding[at]);
                let planes = [0, 1, 2]
                    .map(|at| kind.spread(&picture.planes[at], counts[at], strides[at], pixel_strides[at]));
                let views = [0, 1, 2].map(|at| (&planes[at][..], strides[at], pixel_strides[at]));
                assert_shows(kind, &picture, &kind.frame(&picture, views));
            }
        }
    }
}

#[test]
fn planes_may_lie_anywhere_in_one_allocation_in_any_order() {
    for kind in KINDS {
        let unit = kind.unit();
        let picture = kind.picture(21, 15);
        let planes = [0, 1, 2].map(|at| kind.bytes(&picture.planes[at]));
        for order in [[0, 1, 2], [0, 2, 1], [2, 0, 1], [1, 2, 0], [2, 1, 0]] {
            for gap in [0, 1, 4096] {
                let mut allocation = vec![0x3c; gap];
                let mut starts = [0; 3];
                for plane in order {
                    starts[plane] = allocation.len();
                    allocation.extend(&planes[plane]);
                    allocation.resize(allocation.len() + gap, 0x3c);
                }
                let columns = [21, 11, 11];
                // To the end of the allocation, as some bindings give them, or just as long as they are.
                let open = [0, 1, 2].map(|at| (&allocation[starts[at]..], columns[at] * unit, unit));
                assert_shows(kind, &picture, &kind.frame(&picture, open));
                let exact = [0, 1, 2].map(|at| {
                    (&allocation[starts[at]..starts[at] + planes[at].len()], columns[at] * unit, unit)
                });
                assert_shows(kind, &picture, &kind.frame(&picture, exact));
            }
        }
    }
}

#[test]
fn u_and_v_side_by_side_in_the_same_rows_are_read_right() {
    // IMC2 and IMC4: the rows of U fill the left half of each chroma row, those of V the right half, or the other way
    // round, so that each plane lies within the padding of the other.
    for kind in KINDS {
        let unit = kind.unit();
        let picture = kind.picture(22, 10);
        let y = luma(kind, &picture);
        for v_first in [false, true] {
            let (first, second) = if v_first { (2, 1) } else { (1, 2) };
            let rows = picture.planes[first].chunks(11).zip(picture.planes[second].chunks(11));
            let chroma =
                kind.bytes(&rows.flat_map(|(left, right)| [left, right].concat()).collect::<Vec<_>>());
            let [left, right] = [&chroma[..], &chroma[11 * unit..]];
            let [u, v] = if v_first { [right, left] } else { [left, right] };
            let planes = [(&y[..], 22 * unit, unit), (u, 22 * unit, unit), (v, 22 * unit, unit)];
            assert_shows(kind, &picture, &kind.frame(&picture, planes));
        }
    }
}

#[test]
fn chroma_may_begin_in_the_padding_that_the_last_row_of_luma_lacks() {
    for kind in KINDS {
        let unit = kind.unit();
        let picture = kind.picture(18, 8);
        let stride = 32 * unit;
        let mut allocation = kind.spread(&picture.planes[0], 18, stride, unit);
        let start = allocation.len();
        allocation.extend(kind.interleaved(&picture, true, stride));
        let view = |start: usize, pixel_stride| (&allocation[start..], stride, pixel_stride);
        let planes = [view(0, unit), view(start + unit, 2 * unit), view(start, 2 * unit)];
        assert_shows(kind, &picture, &kind.frame(&picture, planes));
    }
}

#[test]
fn luma_and_chroma_may_interleave() {
    // U Y V Y: every other row of a 4:2:2 picture is one of 4:2:0.
    for kind in KINDS {
        let unit = kind.unit();
        let picture = kind.picture(12, 6);
        let mut rows = Vec::new();
        for row in 0..6 {
            for column in 0..6 {
                let chroma = row / 2 * 6 + column;
                let luma = row * 12 + 2 * column;
                let [y, u, v] = &picture.planes;
                // Rows without chroma of their own hold junk in its place.
                let [u, v] = if row % 2 == 0 { [u[chroma], v[chroma]] } else { [77, 99] };
                rows.extend([u, y[luma], v, y[luma + 1]]);
            }
        }
        let bytes = kind.bytes(&rows);
        let stride = 24 * unit;
        let planes = [
            (&bytes[unit..], stride, 2 * unit),
            (&bytes[..], 2 * stride, 4 * unit),
            (&bytes[2 * unit..], 2 * stride, 4 * unit),
        ];
        assert_shows(kind, &picture, &kind.frame(&picture, planes));
    }
}

#[test]
fn views_one_sample_apart_that_are_not_interleaved_are_told_from_those_that_are() {
    for kind in KINDS {
        let unit = kind.unit();
        // A single chroma column of pixel stride 2 and two of one row: V begins right after U's only sample, or in the
        // same allocation with a row stride of its own.
        let picture = kind.picture(2, 6);
        let y = luma(kind, &picture);
        let u = kind.spread(&picture.planes[1], 1, 4 * unit, 2 * unit);
        let v = kind.spread(&picture.planes[2], 1, 2 * unit, 2 * unit);
        let mut allocation = vec![0; u.len().max(v.len() + unit)];
        for (row, sample) in u.chunks(4 * unit).enumerate() {
            allocation[row * 4 * unit..][..unit].copy_from_slice(&sample[..unit]);
        }
        for (row, sample) in v.chunks(2 * unit).enumerate() {
            allocation[unit + row * 2 * unit..][..unit].copy_from_slice(&sample[..unit]);
        }
        let planes = [
            (&y[..], 2 * unit, unit),
            (&allocation[..], 4 * unit, 2 * unit),
            (&allocation[unit..], 2 * unit, 2 * unit),
        ];
        assert_shows(kind, &picture, &kind.frame(&picture, planes));
    }
}

#[test]
fn yv12_as_android_pads_it_is_given_by_its_planes() {
    // Width 176: the rows of Y have 176 bytes, those of V and U 96, half of it rounded up to 16.
    let picture = Picture::noise(176, 144, 8);
    let (luma_bytes, chroma_bytes) = (176 * 144, 96 * 72);
    let mut buffer: Vec<u8> = Kind::Yuv420.bytes(&picture.planes[0]);
    for plane in [2, 1] {
        buffer.extend(Kind::Yuv420.spread(&picture.planes[plane], 88, 96, 1));
        buffer.resize(buffer.len().next_multiple_of(96), 0);
    }
    assert_eq!(buffer.len(), luma_bytes + 2 * chroma_bytes);
    let (y, v, u) = (&buffer[..], &buffer[luma_bytes..], &buffer[luma_bytes + chroma_bytes..]);
    let frame = Kind::Yuv420.frame(&picture, [(y, 176, 1), (u, 96, 1), (v, 96, 1)]);
    assert_shows(Kind::Yuv420, &picture, &frame);
    // Where half a row is a multiple of 16, the layout says it all.
    let picture = Picture::noise(64, 6, 8);
    let packed = picture.pack(BufferLayout::Yv12);
    assert_shows(Kind::Yuv420, &picture, &Frame::yv12(&packed, 64, 6, None).unwrap());
}

proptest! {
    #![proptest_config(common::cases(300))]

    #[test]
    fn strides_orders_and_gaps_do_not_change_the_pixels(
        ten_bits: bool, width in 1_usize..40, height in 1_usize..40,
        samples in [1_usize..4, 1..6, 1..6], padding in [0_usize..20, 0..20, 0..20],
        order in Just([0, 1, 2]).prop_shuffle(), gap in 0_usize..9,
    ) {
        let kind = if ten_bits { Kind::P010 } else { Kind::Yuv420 };
        let picture = kind.picture(width, height);
        let columns = [width, picture.chroma_columns(), picture.chroma_columns()];
        let pixel_strides = samples.map(|samples| samples * kind.unit());
        let strides = [0, 1, 2].map(|at| columns[at] * pixel_strides[at] + padding[at]);
        let mut allocation = Vec::new();
        let mut places = [const { 0..0 }; 3];
        for plane in order {
            allocation.resize(allocation.len() + gap, 0x18);
            let start = allocation.len();
            let (columns, stride) = (columns[plane], strides[plane]);
            allocation.extend(kind.spread(&picture.planes[plane], columns, stride, pixel_strides[plane]));
            places[plane] = start..allocation.len();
        }
        let views = [0, 1, 2].map(|at| (&allocation[places[at].clone()], strides[at], pixel_strides[at]));
        assert_shows(kind, &picture, &kind.frame(&picture, views));
    }

    #[test]
    fn interleaving_of_either_order_does_not_change_the_pixels(
        ten_bits: bool, v_first: bool, width in 1_usize..40, height in 1_usize..40,
        padding in 0_usize..9, odd_start in 0_usize..2,
    ) {
        let kind = if ten_bits { Kind::P010 } else { Kind::Yuv420 };
        let unit = kind.unit();
        let picture = kind.picture(width, height);
        let row_stride = 2 * unit * picture.chroma_columns() + padding;
        let mut allocation = vec![0; odd_start];
        allocation.extend(luma(kind, &picture));
        let start = allocation.len();
        allocation.extend(kind.interleaved(&picture, v_first, row_stride));
        let places = [start..allocation.len() - unit, start + unit..allocation.len()];
        let views = places.map(|place| (&allocation[place], row_stride, 2 * unit));
        let [u, v] = if v_first { [views[1], views[0]] } else { views };
        let frame = kind.frame(&picture, [(&allocation[odd_start..start], width * unit, unit), u, v]);
        assert_shows(kind, &picture, &frame);
    }

    #[test]
    fn any_three_slices_are_read_in_bounds_or_refused(
        bytes in prop::collection::vec(any::<u8>(), 1..300), ten_bits: bool, width in 0_u32..12, height in 0_u32..12,
        starts in [0.0..1.0, 0.0..1.0, 0.0..1.0], lens in [0.0..1.0, 0.0..1.0, 0.0..1.0],
        row_strides in [0_usize..40, 0..40, 0..40], pixel_strides in [0_usize..6, 0..6, 0..6],
    ) {
        let planes = [0, 1, 2].map(|at| {
            let start = (starts[at] * bytes.len() as f64) as usize;
            let len = (lens[at] * (bytes.len() - start) as f64) as usize;
            Plane { bytes: &bytes[start..start + len], row_stride: row_strides[at], pixel_stride: pixel_strides[at] }
        });
        let format = if ten_bits { PixelFormat::P010 } else { PixelFormat::Yuv420 };
        let make = if ten_bits { Frame::p010_planes } else { Frame::yuv420 };
        if let Ok(frame) = make(planes, width, height) {
            prop_assert_eq!(frame.format, format);
            let pixels = shown(&frame);
            prop_assert!(pixels.iter().flatten().all(|value| (-0.01..=255.01).contains(value)));
            let mut copy = FrameBuffer::new();
            copy.copy_from(&frame).unwrap();
            prop_assert_eq!(shown(&copy.frame()), pixels);
        }
    }
}
