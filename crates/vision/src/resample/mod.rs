//! Resizing: three ways, by what the result must equal.

mod fixed;
mod linear;
mod pillow;
mod same;
mod stage;

pub(crate) use fixed::Fixed;
pub(crate) use linear::Linear;
pub(crate) use pillow::Pillow;
pub(crate) use same::Same;

use crate::frame::{Pixel, Sample, Source};
use crate::kernels::Kernels;
use crate::taps::{Axis, Kernel};
use crate::{ChromaSiting, Filter};

/// Which way a frame is resized.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Way {
    /// Y, U and V, or areas of RGB: in 16-bit fixed point.
    Fixed(Kernel),
    /// 4:2:0 that is not resized.
    Same {
        /// Whether chroma is repeated, not interpolated.
        nearest: bool,
    },
    /// RGB as Pillow does it.
    Pillow(Kernel),
    /// RGB as OpenCV's `INTER_LINEAR` does it, or its `INTER_AREA` when it enlarges.
    Linear {
        /// Whether the latter.
        area: bool,
    },
}

impl Way {
    /// How to resize `sources`, which hold `yuv` or RGB, along `axes` with `filter`.
    pub(crate) fn of(
        filter: Filter,
        yuv: bool,
        sources: &[Source<'_>],
        axes: &[Axis; 2],
        transpose: bool,
        siting: ChromaSiting,
    ) -> Self {
        let nearest = filter == Filter::Nearest;
        let sited = nearest || siting == ChromaSiting::Center;
        if yuv && sited && !transpose && is_whole_420(sources, axes) {
            return Self::Same { nearest };
        }
        let shrinks = axes.iter().all(Axis::shrinks);
        match (filter, yuv) {
            (Filter::Nearest, _) => Self::Fixed(Kernel::Nearest),
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

/// Whether it is 4:2:0 in bytes, planar or with U and V interleaved, not resized or mirrored along its rows, and begins
/// with a whole chroma sample.
fn is_whole_420(sources: &[Source<'_>], axes: &[Axis; 2]) -> bool {
    let [luma, chroma @ ..] = sources else { return false };
    let planes = chroma.len();
    axes.iter().all(|axis| u64::from(axis.source_len) == axis.scaled_len)
        && axes[0].len == axes[0].source_len
        && !axes[0].mirrored
        && axes[0].origin.is_multiple_of(2)
        && luma.pixel_stride == 1
        && chroma.iter().all(|source| {
            source.halved_x
                && source.halved_y
                && source.sample == Sample::U8
                && planes * source.pixel_stride == 2
        })
}

/// Takes the channels of a row of whole pixels apart.
fn split(pixel: &Pixel, kernels: &Kernels, row: &[u8], out: [&mut [u8]; 3]) {
    for (line, offset) in out.into_iter().zip(pixel.order) {
        kernels.pick8(row, pixel.channels, offset, line);
    }
}
