//! 4:2:0 at its own size: chroma is upsampled by fixed weights, nothing else is resampled. Equal to what
//! [`Fixed`](super::Fixed) makes of it, many times faster.

use std::ops::Range;

use crate::frame::Source;
use crate::kernels::{FixedYuvToRgb, Kernels};
use crate::taps::Axis;

/// Work space.
#[derive(Debug, Default)]
pub(crate) struct Same {
    /// Whether chroma is repeated, not interpolated.
    nearest: bool,
    /// The chroma row that was repeated last: two rows of the result share it.
    repeated: Option<usize>,
    /// The first row and column of the crop; the column is even.
    origin: [usize; 2],
    columns: Columns,
    /// A row of U and V, mixed from two, with one sample more on either side.
    chroma: [Vec<i16>; 2],
    /// The last rows of the sources, where they are not whole.
    last_rows: [Vec<u8>; 3],
}

/// Chroma columns that the crop needs.
#[derive(Clone, Debug, Default)]
struct Columns {
    inner: Range<usize>,
    /// The one to the left, or that at the edge again; to the right alike.
    before: usize,
    after: usize,
}

impl Same {
    pub(crate) fn prepare(&mut self, axes: &[Axis; 2], nearest: bool) {
        self.nearest = nearest;
        self.origin = axes.map(|axis| (axis.origin + axis.first()) as usize);
        let first = self.origin[0] / 2;
        let end = first + axes[0].len.div_ceil(2) as usize;
        let last = axes[0].frame_len.div_ceil(2) as usize - 1;
        self.columns = Columns { inner: first..end, before: first.saturating_sub(1), after: end.min(last) };
        for line in &mut self.chroma {
            line.resize(self.columns.inner.len() + 2, 0);
        }
    }

    /// To be called once for each frame.
    pub(crate) fn begin(&mut self, sources: &[Source<'_>]) {
        self.repeated = None;
        for (last_row, source) in self.last_rows.iter_mut().zip(sources) {
            source.complete_last_row(0..source.columns(), last_row);
        }
    }

    /// Row `row` of the result as bytes of red, green and blue.
    pub(crate) fn row(
        &mut self,
        kernels: &Kernels,
        sources: &[Source<'_>],
        conversion: &FixedYuvToRgb,
        row: usize,
        out: [&mut [u8]; 3],
    ) {
        let luma = self.luma(sources, row, out[0].len());
        let nearest = self.nearest;
        kernels.same_size(luma, self.chroma(kernels, sources, row), nearest, conversion, out);
    }

    /// Row `row` of the result as pixels of four bytes.
    pub(crate) fn row_of_four(
        &mut self,
        kernels: &Kernels,
        sources: &[Source<'_>],
        conversion: &FixedYuvToRgb,
        row: usize,
        blue_first: bool,
        out: &mut [u8],
    ) {
        let luma = self.luma(sources, row, out.len() / 4);
        let nearest = self.nearest;
        let chroma = self.chroma(kernels, sources, row);
        kernels.same_size_four(luma, chroma, nearest, conversion, blue_first, out);
    }

    /// Row `row` of Y.
    fn luma<'a>(&self, sources: &[Source<'a>], row: usize, columns: usize) -> &'a [u8] {
        let [x, y] = self.origin;
        sources[0].rows(y + row, 1, x..x + columns, &[]).get(0)
    }

    /// Row `row` of U and V.
    fn chroma(&mut self, kernels: &Kernels, sources: &[Source<'_>], row: usize) -> [&[i16]; 2] {
        let row = self.origin[1] + row;
        if self.nearest && self.repeated.replace(row / 2) == Some(row / 2) {
            return self.chroma.each_ref().map(|line| &line[..]);
        }
        for (source, last_row) in sources[1..].iter().zip(&self.last_rows[1..]) {
            let last = source.last_row();
            let near = row / 2;
            let far = if row.is_multiple_of(2) { near.saturating_sub(1) } else { (near + 1).min(last) };
            let far = if self.nearest { near } else { far };
            let rows = source.rows(near.min(far), near.abs_diff(far) + 1, 0..source.columns(), last_row);
            let (above, below) = (rows.get(0), rows.get(rows.count() - 1));
            let [near, far] = if near < far { [above, below] } else { [below, above] };
            self.columns.fill(&mut self.chroma, |columns, places, [u, v]| match source.offsets {
                [None, Some(u_at), Some(v_at)] => {
                    let bytes = 2 * columns.start..2 * columns.end;
                    let (u, v) = (&mut u[places.clone()], &mut v[places]);
                    let pair = if u_at < v_at { [u, v] } else { [v, u] };
                    if self.nearest {
                        kernels.widen_chroma_pairs(&near[bytes], pair);
                    } else {
                        kernels.mix_chroma_pairs(&near[bytes.clone()], &far[bytes], pair);
                    }
                }
                [_, u_at, _] => {
                    let line = if u_at.is_some() { u } else { v };
                    if self.nearest {
                        kernels.widen_chroma(&near[columns], &mut line[places]);
                    } else {
                        kernels.mix_chroma(&near[columns.clone()], &far[columns], &mut line[places]);
                    }
                }
            });
        }
        self.chroma.each_ref().map(|line| &line[..])
    }
}

impl Columns {
    /// Calls `fill` with columns, the places in the lines where they belong, and the lines: those of the crop, then the
    /// one on either side.
    fn fill(
        &self,
        lines: &mut [Vec<i16>; 2],
        mut fill: impl FnMut(Range<usize>, Range<usize>, &mut [Vec<i16>; 2]),
    ) {
        let last = self.inner.len() + 1;
        fill(self.inner.clone(), 1..last, lines);
        fill(self.before..self.before + 1, 0..1, lines);
        fill(self.after..self.after + 1, last..last + 1, lines);
    }
}
