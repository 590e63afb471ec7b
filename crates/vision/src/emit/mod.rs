//! From rows of red, green and blue bytes to the tensor: normalised, in its layout, type and order of channels.

mod band;
mod tile;
mod values;

pub(crate) use band::Band;
pub(crate) use tile::Tile;
use values::Values;

use crate::kernels::Kernels;
use crate::{ImageSpec, Layout, TensorMut};

/// Writes the tensors of one specification.
#[derive(Debug)]
pub(crate) struct Emitter {
    width: usize,
    height: usize,
    layout: Layout,
    /// Which colour each of the first three channels is.
    colours: [usize; 3],
    channels: usize,
    values: Values,
}

/// Where a run of pixels begins in a band.
#[derive(Clone, Copy, Debug)]
pub(crate) struct At {
    pub(crate) x: usize,
    pub(crate) y: usize,
}

/// A part of a band.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Area {
    pub(crate) at: At,
    pub(crate) width: usize,
    pub(crate) height: usize,
}

impl Emitter {
    pub(crate) fn new(spec: &ImageSpec) -> Self {
        Self {
            width: spec.width as usize,
            height: spec.height as usize,
            layout: spec.layout,
            colours: spec.channels.colours(),
            channels: spec.channels.count(),
            values: Values::new(spec),
        }
    }

    /// Cuts a tensor at row `row`: those above it, and the others.
    pub(crate) fn bands<'o>(&self, out: TensorMut<'o>, row: usize) -> [Band<'o>; 2] {
        Band::split(out, self.layout, self.channels, self.width, row)
    }

    /// A row near the middle at which a tensor can be cut.
    pub(crate) fn middle(&self) -> usize {
        let middle = self.height / 2;
        match self.layout {
            Layout::Patches { side } => middle / side as usize * side as usize,
            Layout::Nchw | Layout::Nhwc => middle,
        }
    }

    /// Writes the first `rows` rows of `tile`. The first pixel of the first row goes to `at`; rows go down, or to the
    /// right with `transpose`.
    pub(crate) fn write(
        &self,
        kernels: &Kernels,
        tile: &mut Tile,
        rows: usize,
        at: At,
        transpose: bool,
        out: &mut Band<'_>,
    ) {
        if transpose {
            tile.turn(kernels);
            if self.write_float_columns(kernels, tile, rows, at, out) {
                return;
            }
            for column in 0..tile.columns() {
                self.write_run(kernels, tile.column(column, rows), At { y: at.y + column, ..at }, out);
            }
        } else {
            for row in 0..rows {
                self.write_run(kernels, tile.row(row), At { y: at.y + row, ..at }, out);
            }
        }
    }

    /// The bytes of `len` pixels from `at` on, and whether blue comes first, where a pixel is four bytes of the picture.
    pub(crate) fn pixels_of_four<'o>(
        &self,
        at: At,
        len: usize,
        out: &'o mut Band<'_>,
    ) -> Option<(&'o mut [u8], bool)> {
        let whole = self.layout == Layout::Nhwc && self.channels == 4 && self.values.are_bytes();
        let Band::U8([out, ..]) = out else { return None };
        let first = 4 * (at.y * self.width + at.x);
        whole.then(|| (&mut out[first..first + 4 * len], self.colours[0] == 2))
    }

    /// Writes the columns of a tile that was turned as rows of floats, channel by channel. False if they are not such.
    fn write_float_columns(
        &self,
        kernels: &Kernels,
        tile: &Tile,
        rows: usize,
        at: At,
        out: &mut Band<'_>,
    ) -> bool {
        let (Layout::Nchw, Values::F32(by), Band::F32(planes)) = (self.layout, &self.values, &mut *out)
        else {
            return false;
        };
        let first = at.y * self.width + at.x;
        for (plane, colour) in planes.iter_mut().zip(self.colours) {
            kernels.float_columns(tile.turned(colour), rows, by[colour], self.width, &mut plane[first..]);
        }
        if self.channels == 4 {
            for column in 0..tile.columns() {
                self.values.write_opaque(3, first + column * self.width, rows, out);
            }
        }
        true
    }

    /// Gives every pixel around `picture` in a band of `rows` rows the same colour.
    pub(crate) fn fill_around(
        &self,
        kernels: &Kernels,
        colour: [u8; 3],
        picture: Area,
        rows: usize,
        out: &mut Band<'_>,
    ) {
        const RUN: usize = 256;
        let lines = colour.map(|value| [value; RUN]);
        let Area { at, width, height } = picture;
        for y in 0..rows {
            let beside = (at.y..at.y + height).contains(&y);
            let (left, right) = if beside { (at.x, at.x + width) } else { (0, 0) };
            for bar in [0..left, right..self.width] {
                for x in bar.clone().step_by(RUN) {
                    let len = RUN.min(bar.end - x);
                    self.write_run(kernels, lines.each_ref().map(|line| &line[..len]), At { x, y }, out);
                }
            }
        }
    }

    /// Writes pixels that lie side by side.
    fn write_run(&self, kernels: &Kernels, run: [&[u8]; 3], at: At, out: &mut Band<'_>) {
        let ordered = self.colours.map(|colour| run[colour]);
        let len = run[0].len();
        let pixel = at.y * self.width + at.x;
        match self.layout {
            Layout::Nchw => {
                for (channel, (line, colour)) in ordered.into_iter().zip(self.colours).enumerate() {
                    self.values.write_line(kernels, colour, line, channel, pixel, out);
                }
                if self.channels == 4 {
                    self.values.write_opaque(3, pixel, len, out);
                }
            }
            Layout::Nhwc => self.write_pixels(kernels, ordered, pixel * self.channels, out),
            Layout::Patches { side } => {
                let side = side as usize;
                let mut done = 0;
                while done < len {
                    let x = at.x + done;
                    let part = (side - x % side).min(len - done);
                    let patch = at.y / side * (self.width / side) + x / side;
                    let first = (patch * side * side + at.y % side * side + x % side) * self.channels;
                    let lines = ordered.map(|line| &line[done..done + part]);
                    self.write_pixels(kernels, lines, first, out);
                    done += part;
                }
            }
        }
    }

    /// Writes pixels with their channels together.
    fn write_pixels(&self, kernels: &Kernels, ordered: [&[u8]; 3], first: usize, out: &mut Band<'_>) {
        self.values.write_pixels(kernels, self.colours, ordered, self.channels == 4, first, out);
    }
}
