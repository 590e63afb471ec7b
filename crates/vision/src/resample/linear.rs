//! Resizing of RGB bit for bit as OpenCV's `INTER_LINEAR` does it on bytes, and `INTER_AREA` where it enlarges
//! (`imgproc/src/resize.cpp`).

use super::split;
use super::stage::Stage;
use crate::frame::{Pixel, Source};
use crate::kernels::{Kernels, LinearTap};
use crate::taps::Axis;

/// 1 with the 11 fraction bits of the weights.
const ONE: f32 = 2048.0;

/// Tables and work space.
#[derive(Debug, Default)]
pub(crate) struct Linear {
    /// Along x, then y.
    taps: [Vec<LinearTap>; 2],
    /// Whether the first pass is down the columns.
    down_first: bool,
    stage: Stage<i16>,
    row: Vec<i16>,
    pixels: Vec<u8>,
}

impl Linear {
    /// `axes` are those of the sensor; `transpose` tells whether its x is y in the upright picture.
    pub(crate) fn prepare(&mut self, area: bool, axes: &[Axis; 2], transpose: bool, pixel: &Pixel) {
        for ((taps, axis), upright_x) in self.taps.iter_mut().zip(axes).zip([!transpose, transpose]) {
            taps.clear();
            taps.extend((0..axis.len).map(|index| tap(axis, index, area, upright_x)));
        }
        self.down_first = transpose;
        let columns = self.taps[0].len();
        self.pixels.resize(columns * pixel.channels, 0);
        if self.down_first {
            self.stage.prepare(0, 0);
        } else {
            self.stage.prepare(columns * pixel.channels, 2);
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
        width: usize,
        row: usize,
        out: [&mut [u8]; 3],
    ) {
        let [x, y] = &self.taps;
        let LinearTap { first, second, weights } = y[row];
        let (first, second) = (first as usize, second as usize);
        let bytes = |row| source.rows(row, 1, 0..width, &[]).get(0);
        if self.down_first {
            let (first, second) = (bytes(first), bytes(second));
            self.row.resize(first.len(), 0);
            kernels.linear_first_down(first, second, weights, &mut self.row);
            kernels.linear_second_along(&self.row, pixel.stride, pixel.channels, x, &mut self.pixels);
        } else {
            let len = self.pixels.len();
            let above = first.min(second);
            let rows = self.stage.rows(above..first.max(second) + 1, |row, out| {
                kernels.linear_first_along(bytes(row), pixel.stride, pixel.channels, x, out);
            });
            let [first, second] = [first, second].map(|row| &rows[(row - above) * len..][..len]);
            kernels.linear_second_down(first, second, weights, &mut self.pixels);
        }
        split(pixel, kernels, &self.pixels, out);
    }
}

/// The two samples of output `index`, in the frame's coordinates. Along x a sample beyond the edge has no weight;
/// along y it is the one at the edge.
fn tap(axis: &Axis, index: u32, area: bool, upright_x: bool) -> LinearTap {
    let position = axis.position(index) as f64;
    let last = i64::from(axis.source_len) - 1;
    let inverse = axis.scaled_len as f64 / f64::from(axis.source_len);
    let scale = 1.0 / inverse;
    let (mut start, mut fraction) = if area {
        let start = (position * scale).floor();
        let fraction = (position + 1.0 - (start + 1.0) * inverse) as f32;
        (start as i64, if fraction <= 0.0 { 0.0 } else { fraction - fraction.floor() })
    } else {
        let center = ((position + 0.5) * scale - 0.5) as f32;
        (center.floor() as i64, center - center.floor())
    };
    if upright_x && !(0..last).contains(&start) {
        (start, fraction) = (start.clamp(0, last), 0.0);
    }
    let at = |sample: i64| {
        let sample = sample.clamp(0, last);
        axis.origin + if axis.mirrored { last - sample } else { sample } as u32
    };
    let weights = [1.0 - fraction, fraction].map(|weight| (weight * ONE).round_ties_even() as i16);
    LinearTap { first: at(start), second: at(start + 1), weights }
}
