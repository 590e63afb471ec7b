//! The channels of a frame as the resampler reads them: one source per run of bytes that holds one or more of them.

use super::{Frame, PixelFormat, Plane};

/// Channels that lie interleaved in the same rows: a planar plane, U and V of NV12, or the pixels of a packed format.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Source<'a> {
    bytes: &'a [u8],
    /// What follows `bytes`, where the last sample is not among them: empty or one byte.
    tail: &'a [u8],
    row_stride: usize,
    pub(crate) pixel_stride: usize,
    /// Where each channel (Y, U, V or R, G, B) lies within a pixel, if it is here.
    pub(crate) offsets: [Option<usize>; 3],
    /// Whether the columns, and the rows, are those of half the resolution.
    pub(crate) halved_x: bool,
    pub(crate) halved_y: bool,
}

impl<'a> Source<'a> {
    /// The bytes of row `row` from those of column `first` through the last channel of column `first + len - 1`, as
    /// one slice and what is missing from its end.
    pub(crate) fn row(&self, row: usize, first: usize, len: usize) -> (&'a [u8], &'a [u8]) {
        let start = row * self.row_stride + first * self.pixel_stride;
        let end = start + self.span_bytes(len);
        match self.bytes.get(start..end) {
            Some(bytes) => (bytes, &[]),
            None => (self.bytes.get(start..).unwrap_or(&[]), self.tail),
        }
    }

    /// Bytes from the first channel of a pixel through the last channel of the pixel `len - 1` further on.
    pub(crate) fn span_bytes(&self, len: usize) -> usize {
        let last = self.offsets.iter().flatten().max().copied().unwrap_or(0);
        len.saturating_sub(1) * self.pixel_stride + last + 1
    }
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
        let plane = frame.planes[0];
        let packed =
            |offsets: [usize; 3]| Source::packed(&plane, offsets.map(Some), plane.pixel_stride, false);
        match frame.format {
            PixelFormat::Rgb | PixelFormat::Rgba => Self::from_slice(&[packed([0, 1, 2])]),
            PixelFormat::Bgra => Self::from_slice(&[packed([2, 1, 0])]),
            PixelFormat::Yuyv => Self::from_slice(&[
                Source::packed(&plane, [Some(0), None, None], 2, false),
                Source::packed(&plane, [None, Some(1), Some(3)], 4, true),
            ]),
            PixelFormat::Yuv420 => {
                let luma = Source::packed(&plane, [Some(0), None, None], plane.pixel_stride, false);
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

    pub(crate) fn iter(&self) -> impl Iterator<Item = &Source<'a>> {
        self.sources.iter().take(self.len)
    }
}

impl<'a> Source<'a> {
    fn packed(plane: &Plane<'a>, offsets: [Option<usize>; 3], pixel_stride: usize, halved_x: bool) -> Self {
        let Plane { bytes, row_stride, .. } = *plane;
        Self { bytes, tail: &[], row_stride, pixel_stride, offsets, halved_x, halved_y: false }
    }

    /// U (1) or V (2) by itself. A last sample that is missing takes the value of its neighbour.
    fn chroma_plane(frame: &Frame<'a>, index: usize) -> Self {
        let Plane { row_stride, pixel_stride, .. } = frame.planes[index];
        let bytes = frame.used_bytes(index);
        let mut offsets = [None; 3];
        offsets[index] = Some(0);
        let columns = frame.width.div_ceil(2);
        let back = if columns > 1 { pixel_stride } else { row_stride };
        let last = last_sample(frame, index);
        let tail = if bytes.len() > last { &[][..] } else { one_byte(bytes, last.saturating_sub(back)) };
        Self { bytes, tail, row_stride, pixel_stride, offsets, halved_x: true, halved_y: true }
    }

    /// U and V in one go, if they are two views of the same interleaved rows, either first.
    ///
    /// Each view is a slice of its own, so the rows are read from the one that begins first; only the very last
    /// sample of the other may have to be fetched from there.
    fn interleaved_chroma(frame: &Frame<'a>) -> Option<Self> {
        let [_, u, v] = frame.planes;
        if u.pixel_stride != 2 || v.pixel_stride != 2 || u.row_stride != v.row_stride {
            return None;
        }
        let (u_at, v_at) = (u.bytes.as_ptr().addr(), v.bytes.as_ptr().addr());
        let (first, second, offsets) = if v_at == u_at.checked_add(1)? {
            (1, 2, [None, Some(0), Some(1)])
        } else if u_at == v_at.checked_add(1)? {
            (2, 1, [None, Some(1), Some(0)])
        } else {
            return None;
        };
        let last = last_sample(frame, first);
        let bytes = frame.planes[first].bytes;
        // The last sample of the second channel follows that of the first.
        let (bytes, tail) = match bytes.get(..last + 2) {
            Some(both) => (both, &[][..]),
            None if bytes.len() == last + 1 => {
                (bytes, Source::chroma_plane(frame, second).last_byte(frame, second))
            }
            None => return None,
        };
        (bytes.len() + tail.len() == last + 2).then_some(Self {
            bytes,
            tail,
            row_stride: u.row_stride,
            pixel_stride: 2,
            offsets,
            halved_x: true,
            halved_y: true,
        })
    }

    /// The last sample of a plane by itself, as a slice.
    fn last_byte(&self, frame: &Frame<'a>, index: usize) -> &'a [u8] {
        let last = last_sample(frame, index);
        if self.bytes.len() > last { one_byte(self.bytes, last) } else { self.tail }
    }
}

/// Where the last sample of chroma plane `index` lies in its bytes.
fn last_sample(frame: &Frame<'_>, index: usize) -> usize {
    let plane = frame.planes[index];
    let (columns, rows) = (frame.width.div_ceil(2) as usize, frame.height.div_ceil(2) as usize);
    (rows - 1) * plane.row_stride + (columns - 1) * plane.pixel_stride
}

fn one_byte(bytes: &[u8], at: usize) -> &[u8] {
    bytes.get(at..=at).unwrap_or(&[])
}
