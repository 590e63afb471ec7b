//! Resizing: three ways, by what the result must equal.

mod fixed;
mod linear;
mod pillow;
mod stage;

pub(crate) use fixed::Fixed;
pub(crate) use linear::Linear;
pub(crate) use pillow::Pillow;

use crate::Filter;
use crate::frame::Pixel;
use crate::kernels::Kernels;
use crate::taps::{Axis, Kernel};

/// Which way a frame is resized.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Way {
    /// Y, U and V, or areas of RGB: in 16-bit fixed point.
    Fixed(Kernel),
    /// RGB as Pillow does it.
    Pillow(Kernel),
    /// RGB as OpenCV's `INTER_LINEAR` does it, or its `INTER_AREA` when it enlarges.
    Linear {
        /// Whether the latter.
        area: bool,
    },
}

impl Way {
    /// How to resize along `axes` with `filter`.
    pub(crate) fn of(filter: Filter, yuv: bool, axes: &[Axis; 2]) -> Self {
        let shrinks = axes.iter().all(Axis::shrinks);
        match (filter, yuv) {
            (Filter::Bilinear, false) => Self::Linear { area: false },
            (Filter::Bilinear, true) => Self::Fixed(Kernel::Linear),
            (Filter::BilinearAntialias, false) => Self::Pillow(Kernel::Triangle),
            (Filter::BilinearAntialias, true) => Self::Fixed(Kernel::Triangle),
            (Filter::BicubicAntialias, false) => Self::Pillow(Kernel::Cubic),
            (Filter::BicubicAntialias, true) => Self::Fixed(Kernel::Cubic),
            (Filter::Area, _) if shrinks => Self::Fixed(Kernel::Area),
            (Filter::Area, false) => Self::Linear { area: true },
            (Filter::Area, true) => Self::Fixed(Kernel::AreaEnlarging),
        }
    }
}

/// Takes the channels of a row of whole pixels apart.
fn split(pixel: &Pixel, kernels: &Kernels, row: &[u8], out: [&mut [u8]; 3]) {
    for (line, offset) in out.into_iter().zip(pixel.order) {
        kernels.pick8(row, pixel.channels, offset, line);
    }
}
