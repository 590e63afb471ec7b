//! Resizing of RGB bit for bit as Pillow does it: two passes with bytes between them.

use super::split;
use super::stage::Stage;
use crate::frame::{Pixel, Source};
use crate::kernels::{Kernels, Rows};
use crate::taps::{Axis, Kernel, Precision, Taps};

/// Tables and work space.
#[derive(Debug, Default)]
pub(crate) struct Pillow {
    /// Along x, then y.
    taps: [Taps; 2],
    /// Whether the first pass is down the columns.
    down_first: bool,
    /// What the first pass made: rows of the new width, or one row of the old.
    stage: Stage<u8>,
    row: Vec<u8>,
    pixels: Vec<u8>,
}

impl Pillow {
    /// `axes` are those of the sensor; `transpose` tells whether its x is y in the upright picture.
    pub(crate) fn prepare(&mut self, kernel: Kernel, axes: &[Axis; 2], transpose: bool, pixel: &Pixel) {
        for (taps, axis) in self.taps.iter_mut().zip(axes) {
            taps.rebuild(kernel, axis, None, Precision::Pillow);
        }
        self.down_first = vertical_first(axes, transpose) != transpose;
        let [x, y] = &self.taps;
        self.pixels.resize(x.len() * pixel.channels, 0);
        if self.down_first {
            self.stage.prepare(0, 0);
        } else {
            self.stage.prepare(x.len() * pixel.channels, y.most());
        }
    }

    /// To be called once for each frame.
    pub(crate) fn begin(&mut self) {
        self.stage.clear();
    }

    /// Row `row` of the result. Rows are asked for from top to bottom.
    pub(crate) fn row(
        &mut self,
        kernels: &Kernels,
        source: &Source<'_>,
        pixel: &Pixel,
        row: usize,
        out: [&mut [u8]; 3],
    ) {
        let [x, y] = &self.taps;
        let (start, weights) = y.get(row);
        let (first, count) = (y.span().start + start, weights.len());
        let (high, low) = (y.padded(row), y.padded_low(row));
        if self.down_first {
            let rows = source.rows(first, count, x.span(), &[]);
            self.row.resize(rows.len(), 0);
            kernels.pillow_down(&rows, high, low, &mut self.row);
            kernels.pillow_along(&self.row, pixel.stride, pixel.channels, x, &mut self.pixels);
        } else {
            let rows = self.stage.rows(first..first + count, |row, out| {
                let bytes = source.rows(row, 1, x.span(), &[]).get(0);
                kernels.pillow_along(bytes, pixel.stride, pixel.channels, x, out);
            });
            let len = self.pixels.len();
            kernels.pillow_down(&Rows::new(rows, len, count, len, None), high, low, &mut self.pixels);
        }
        split(pixel, kernels, &self.pixels, out);
    }
}

/// Which pass of the upright picture comes first, as in Pillow 13: down the columns where that takes away more. With
/// bicubic filters the order shows, because bytes between the passes are cut at 0 and 255.
fn vertical_first(axes: &[Axis; 2], transpose: bool) -> bool {
    let [mut width, mut height] = axes.map(|axis| i128::from(axis.source_len) - i128::from(axis.scaled_len));
    if transpose {
        (width, height) = (height, width);
    }
    height > 0 && height > 2 * width
}
