//! The channels of a frame as the resampler reads them: one source per run of bytes that holds one or more of them.

use std::ops::Range;

use super::{Frame, PixelFormat, Plane, Sample};
use crate::kernels::Rows;

/// Channels that lie interleaved in the same rows: a planar plane, U and V of NV12, or the pixels of a packed format.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Source<'a> {
    bytes: &'a [u8],
    /// What follows `bytes`, where the last sample is not among them: empty or one sample.
    tail: &'a [u8],
    row_stride: usize,
    /// Bytes from one pixel to the next.
    pub(crate) pixel_stride: usize,
    /// Where each channel (Y, U, V or R, G, B) lies within a pixel in bytes, if it is here. All three may lie in the
    /// same sample: grey, and RGB565.
    pub(crate) offsets: [Option<usize>; 3],
    /// What lies there.
    pub(crate) sample: Sample,
    columns: usize,
    last_row: usize,
    /// Whether the columns, and the rows, are those of half the resolution.
    pub(crate) halved_x: bool,
    pub(crate) halved_y: bool,
}

impl<'a> Source<'a> {
    /// `count` rows from `first` on: the bytes from those of the first of `columns` through the last channel of the
    /// last. `last_row` is what [`Self::complete_last_row`] made of the same columns.
    pub(crate) fn rows(
        &self,
        first: usize,
        count: usize,
        columns: Range<usize>,
        last_row: &'a [u8],
    ) -> Rows<'a> {
        let start = first * self.row_stride + columns.start * self.pixel_stride;
        let ends_with_last = first + count == self.last_row + 1;
        let last = (ends_with_last && !last_row.is_empty()).then_some(last_row);
        let bytes = self.bytes.get(start..).unwrap_or(&[]);
        Rows::new(bytes, self.row_stride, count, self.span_bytes(columns.len()), last)
    }

    /// Puts the last row together in `out`, if its last sample is not among its bytes; else leaves it empty.
    pub(crate) fn complete_last_row(&self, columns: Range<usize>, out: &mut Vec<u8>) {
        out.clear();
        let start = self.last_row * self.row_stride + columns.start * self.pixel_stride;
        let len = self.span_bytes(columns.len());
        if start + len > self.bytes.len() {
            out.extend_from_slice(self.bytes.get(start..).unwrap_or(&[]));
            out.extend_from_slice(self.tail);
            // Never: a valid frame lacks the tail only.
            out.resize(len, 0);
        }
    }

    /// As a packed source of bytes whose first channel comes first, and how its pixels are made up.
    pub(crate) fn packed(&self) -> (Self, Pixel) {
        let offsets = self.offsets.map(|offset| offset.unwrap_or(0));
        let first = offsets.into_iter().min().unwrap_or(0);
        let order = offsets.map(|offset| offset - first);
        let channels = order.into_iter().max().unwrap_or(0) + 1;
        let bytes = self.bytes.get(first..).unwrap_or(&[]);
        (
            Self { bytes, offsets: order.map(Some), ..*self },
            Pixel { stride: self.pixel_stride, channels, order },
        )
    }

    /// Pixels in a row.
    pub(crate) fn columns(&self) -> usize {
        self.columns
    }

    /// The number of the last row.
    pub(crate) fn last_row(&self) -> usize {
        self.last_row
    }

    /// Bytes from the first channel of a pixel through the last channel of the pixel `len - 1` further on.
    pub(crate) fn span_bytes(&self, len: usize) -> usize {
        let last = self.offsets.iter().flatten().max().copied().unwrap_or(0);
        len.saturating_sub(1) * self.pixel_stride + last + self.sample.bytes()
    }
}

impl<'a> Source<'a> {
    /// RGB without padding, of this width.
    pub(crate) fn rgb(bytes: &'a [u8], width: usize) -> Self {
        Self {
            bytes,
            tail: &[],
            row_stride: 3 * width,
            pixel_stride: 3,
            offsets: [Some(0), Some(1), Some(2)],
            sample: Sample::U8,
            columns: width,
            last_row: (bytes.len() / (3 * width)).saturating_sub(1),
            halved_x: false,
            halved_y: false,
        }
    }
}

/// How the channels of a packed row lie together.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Pixel {
    /// Bytes from one pixel to the next.
    pub(crate) stride: usize,
    /// 3, or 1 for grey.
    pub(crate) channels: usize,
    /// Which of them is red, green and blue.
    pub(crate) order: [usize; 3],
}

/// The sources of one frame; together they hold all three channels.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Sources<'a> {
    sources: [Source<'a>; 3],
    len: usize,
}

impl<'a> Sources<'a> {
    /// The sources of a frame, which must be valid.
    pub(crate) fn of(frame: &Frame<'a>) -> Self {
        let packed = |offsets: [usize; 3]| Self::from_slice(&[Source::full(frame, offsets.map(Some))]);
        match frame.format {
            PixelFormat::Rgb | PixelFormat::Rgba => packed([0, 1, 2]),
            PixelFormat::Bgr | PixelFormat::Bgra => packed([2, 1, 0]),
            PixelFormat::Argb => packed([1, 2, 3]),
            PixelFormat::Gray8 | PixelFormat::Rgb565 => packed([0; 3]),
            PixelFormat::Yuyv => {
                let luma = Source::full(frame, [Some(0), None, None]);
                let (pixel_stride, columns) = (4, luma.columns.div_ceil(2));
                let offsets = [None, Some(1), Some(3)];
                let chroma = Source { pixel_stride, offsets, columns, halved_x: true, ..luma };
                Self::from_slice(&[luma, chroma])
            }
            PixelFormat::Yuv420 | PixelFormat::P010 => {
                let luma = Source::full(frame, [Some(0), None, None]);
                match Source::interleaved_chroma(frame) {
                    Some(chroma) => Self::from_slice(&[luma, chroma]),
                    None => Self::from_slice(&[
                        luma,
                        Source::chroma_plane(frame, 1),
                        Source::chroma_plane(frame, 2),
                    ]),
                }
            }
        }
    }

    fn from_slice(some: &[Source<'a>]) -> Self {
        let mut sources = [some[0]; 3];
        sources[..some.len()].copy_from_slice(some);
        Self { sources, len: some.len() }
    }

    pub(crate) fn as_slice(&self) -> &[Source<'a>] {
        &self.sources[..self.len]
    }
}

impl<'a> Source<'a> {
    /// Channels of the first plane, at full resolution.
    fn full(frame: &Frame<'a>, offsets: [Option<usize>; 3]) -> Self {
        let Plane { bytes, row_stride, pixel_stride } = frame.planes[0];
        let sample = frame.format.sample();
        let (columns, last_row) = (frame.width as usize, frame.height as usize - 1);
        let (halved_x, halved_y) = (false, false);
        Self {
            bytes,
            tail: &[],
            row_stride,
            pixel_stride,
            offsets,
            sample,
            columns,
            last_row,
            halved_x,
            halved_y,
        }
    }

    /// Channels of a chroma plane, at half the resolution both ways.
    fn halved(
        frame: &Frame<'a>,
        index: usize,
        bytes: &'a [u8],
        tail: &'a [u8],
        offsets: [Option<usize>; 3],
    ) -> Self {
        let Plane { row_stride, pixel_stride, .. } = frame.planes[index];
        let sample = frame.format.sample();
        let (columns, last_row) = (frame.width.div_ceil(2) as usize, frame.height.div_ceil(2) as usize - 1);
        Self {
            bytes,
            tail,
            row_stride,
            pixel_stride,
            offsets,
            sample,
            columns,
            last_row,
            halved_x: true,
            halved_y: true,
        }
    }

    /// U (1) or V (2) by itself. A last sample that is missing takes the value of its neighbour.
    fn chroma_plane(frame: &Frame<'a>, index: usize) -> Self {
        let mut offsets = [None; 3];
        offsets[index] = Some(0);
        let bytes = frame.planes[index].bytes;
        let last = last_sample(frame, index);
        if bytes.len() >= last + frame.format.sample().bytes() {
            return Self::halved(frame, index, bytes, &[], offsets);
        }
        Self::halved(frame, index, &bytes[..last], last_sample_bytes(frame, index), offsets)
    }

    /// U and V in one go, if they are two views of the same interleaved rows, either first.
    ///
    /// Each view is a slice of its own, so the rows are read from the one that begins first; only the very last
    /// sample of the other may have to be fetched from there.
    fn interleaved_chroma(frame: &Frame<'a>) -> Option<Self> {
        let [_, u, v] = frame.planes;
        let size = frame.format.sample().bytes();
        if u.pixel_stride != 2 * size || v.pixel_stride != 2 * size || u.row_stride != v.row_stride {
            return None;
        }
        let (u_at, v_at) = (u.bytes.as_ptr().addr(), v.bytes.as_ptr().addr());
        let (first, second, offsets) = if v_at == u_at.checked_add(size)? {
            (1, 2, [None, Some(0), Some(size)])
        } else if u_at == v_at.checked_add(size)? {
            (2, 1, [None, Some(size), Some(0)])
        } else {
            return None;
        };
        let bytes = frame.planes[first].bytes;
        // The last sample of the second channel follows that of the first.
        let second_at = last_sample(frame, first) + size;
        let (bytes, tail) = match bytes.get(..second_at + size) {
            Some(both) => (both, &[][..]),
            None => (bytes.get(..second_at)?, last_sample_bytes(frame, second)),
        };
        Some(Self::halved(frame, first, bytes, tail, offsets))
    }
}

/// Where the last sample of chroma plane `index` begins in its bytes.
fn last_sample(frame: &Frame<'_>, index: usize) -> usize {
    let plane = frame.planes[index];
    let (columns, rows) = (frame.width.div_ceil(2) as usize, frame.height.div_ceil(2) as usize);
    (rows - 1) * plane.row_stride + (columns - 1) * plane.pixel_stride
}

/// The last sample of chroma plane `index`, or its neighbour if it is missing, or not all there.
fn last_sample_bytes<'a>(frame: &Frame<'a>, index: usize) -> &'a [u8] {
    let Plane { bytes, row_stride, pixel_stride } = frame.planes[index];
    let size = frame.format.sample().bytes();
    let last = last_sample(frame, index);
    let back = if frame.width > 2 { pixel_stride } else { row_stride };
    let before = last.saturating_sub(back);
    bytes.get(last..last + size).or_else(|| bytes.get(before..before + size)).unwrap_or(&[])
}
