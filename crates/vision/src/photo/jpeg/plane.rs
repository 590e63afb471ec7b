//! The samples of one component, some rows at a time, and how they are brought to the size of the picture.

use super::frame::{Component, Frame};
use super::idct::Square;

/// Rows of samples. As many are kept as the interpolation looks back.
pub(super) struct Plane {
    samples: Vec<u8>,
    stride: usize,
    rows: usize,
    /// Where the row of groups begins that is being read, and how many rows it has.
    group_row: usize,
    group_rows: usize,
    /// Side of a block in samples.
    pub(super) size: usize,
    /// Size in samples, as far as they show something of the picture.
    width: usize,
    height: usize,
    method: Method,
    /// Sums of two rows.
    sums: Vec<u16>,
    enlarged: Vec<u8>,
}

/// How samples are brought to the size of the picture: libjpeg's "fancy" interpolation (triangle filter) where there
/// is one for these factors, else repetition.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Method {
    Whole,
    Across,
    Down,
    Both,
    Repeat { across: usize, down: usize },
}

impl Plane {
    /// For blocks of the picture scaled to `scale` eighths. `None` if its size is no whole fraction of the picture's.
    pub(super) fn new(frame: &Frame, component: &Component, scale: usize) -> Option<Self> {
        let (h, v, max_h, max_v) = (component.h, component.v, frame.max_h, frame.max_v);
        // A component of lower resolution is scaled down less, which does for interpolating it.
        let mut size = scale;
        let doubles = |size: usize| {
            (max_h * scale).is_multiple_of(h * size * 2) && (max_v * scale).is_multiple_of(v * size * 2)
        };
        while size < 8 && doubles(size) {
            size *= 2;
        }
        let (across, down) = (max_h * scale, max_v * scale);
        if !across.is_multiple_of(h * size) || !down.is_multiple_of(v * size) {
            return None;
        }
        let width = (frame.width * h * size).div_ceil(max_h * 8);
        let height = (frame.height * v * size).div_ceil(max_v * 8);
        let fancy = scale > 1;
        let method = match (across / (h * size), down / (v * size)) {
            (1, 1) => Method::Whole,
            (2, 1) if fancy && width > 2 => Method::Across,
            (1, 2) if fancy => Method::Down,
            (2, 2) if fancy && width > 2 => Method::Both,
            (across, down) => Method::Repeat { across, down },
        };
        let stride = frame.mcus_wide * h * size;
        // Two groups' rows, four at least.
        let rows = v * size * 4_usize.div_ceil(v * size).max(2);
        Some(Self {
            samples: vec![0; stride * rows],
            stride,
            rows,
            group_row: 0,
            group_rows: v * size,
            size,
            width,
            height,
            method,
            sums: vec![0; if method == Method::Both { width } else { 0 }],
            enlarged: vec![0; if method == Method::Whole { 0 } else { frame.mcus_wide * max_h * scale }],
        })
    }

    /// Whether a row is made of the ones above and below.
    pub(super) fn looks_around(&self) -> bool {
        matches!(self.method, Method::Down | Method::Both)
    }

    /// Bytes that the rows take.
    pub(super) fn bytes(&self) -> usize {
        self.samples.len() + self.enlarged.len() + self.sums.len() * size_of::<u16>()
    }

    /// Where the block goes that is `column` blocks from the left and `row` from the top of the row of groups.
    #[inline(always)]
    pub(super) fn square(&mut self, column: usize, row: usize) -> Square<'_> {
        let start = (self.group_row + row * self.size) * self.stride + column * self.size;
        Square { samples: self.samples.get_mut(start..).unwrap_or_default(), stride: self.stride }
    }

    /// Goes on to the next row of groups.
    pub(super) fn next_group_row(&mut self) {
        self.group_row = (self.group_row + self.group_rows) % self.rows;
    }

    /// A row of samples; above the first and below the last those are repeated.
    #[inline(always)]
    fn row(samples: &[u8], (stride, rows, width, height): (usize, usize, usize, usize), row: isize) -> &[u8] {
        let row = row.clamp(0, height as isize - 1) as usize;
        samples.get(row % rows * stride..).and_then(|rest| rest.get(..width)).unwrap_or(&[])
    }

    /// Row `y` of the picture, at least as wide as that.
    #[inline(always)]
    pub(super) fn picture_row(&mut self, y: usize) -> &[u8] {
        let shape = (self.stride, self.rows, self.width, self.height);
        let row = |at: isize| Self::row(&self.samples, shape, at);
        // The row that is nearest, and the one on its other side.
        let (near, far) = ((y / 2) as isize, (y / 2) as isize + if y.is_multiple_of(2) { -1 } else { 1 });
        match self.method {
            Method::Whole => return row(y as isize),
            Method::Across => enlarge_across(row(y as isize), &mut self.enlarged),
            Method::Down => {
                let bias = if y.is_multiple_of(2) { 1 } else { 2 };
                for (out, (&near, &far)) in self.enlarged.iter_mut().zip(row(near).iter().zip(row(far))) {
                    *out = ((u16::from(near) * 3 + u16::from(far) + bias) >> 2) as u8;
                }
            }
            Method::Both => {
                for (sum, (&near, &far)) in self.sums.iter_mut().zip(row(near).iter().zip(row(far))) {
                    *sum = u16::from(near) * 3 + u16::from(far);
                }
                enlarge_sums_across(&self.sums, &mut self.enlarged);
            }
            Method::Repeat { across, down } => {
                let row = row((y / down) as isize);
                for (out, &sample) in self.enlarged.chunks_mut(across).zip(row) {
                    out.fill(sample);
                }
            }
        }
        &self.enlarged
    }
}

/// Twice as wide: each sample gives a quarter to each new neighbour. At least three samples.
#[inline(always)]
fn enlarge_across(row: &[u8], out: &mut [u8]) {
    let wide = |sample: u8| u16::from(sample);
    let ([first, second, ..], [.., before, last]) = (row, row) else { return };
    let Some(out) = out.get_mut(..row.len() * 2) else { return };
    let [out_first, out_second, middle @ .., out_before, out_last] = out else { return };
    for (out, around) in middle.as_chunks_mut().0.iter_mut().zip(row.windows(3)) {
        let three = wide(around[1]) * 3;
        *out = [((three + wide(around[0]) + 1) >> 2) as u8, ((three + wide(around[2]) + 2) >> 2) as u8];
    }
    (*out_first, *out_last) = (*first, *last);
    *out_second = ((wide(*first) * 3 + wide(*second) + 2) >> 2) as u8;
    *out_before = ((wide(*last) * 3 + wide(*before) + 1) >> 2) as u8;
}

/// The same for sums of four.
#[inline(always)]
fn enlarge_sums_across(row: &[u16], out: &mut [u8]) {
    let ([first, second, ..], [.., before, last]) = (row, row) else { return };
    let Some(out) = out.get_mut(..row.len() * 2) else { return };
    let [out_first, out_second, middle @ .., out_before, out_last] = out else { return };
    for (out, around) in middle.as_chunks_mut().0.iter_mut().zip(row.windows(3)) {
        let three = around[1] * 3;
        *out = [((three + around[0] + 8) >> 4) as u8, ((three + around[2] + 7) >> 4) as u8];
    }
    *out_first = ((first * 4 + 8) >> 4) as u8;
    *out_second = ((first * 3 + second + 7) >> 4) as u8;
    *out_before = ((last * 3 + before + 8) >> 4) as u8;
    *out_last = ((last * 4 + 7) >> 4) as u8;
}
