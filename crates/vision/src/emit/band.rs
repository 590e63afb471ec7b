//! Some rows of the tensor's picture, which one thread writes.

use half::f16;

use crate::{Layout, TensorMut};

/// The memory of some rows, by the type of its elements.
#[derive(Debug)]
pub(crate) enum Band<'a> {
    F32(Planes<'a, f32>),
    F16(Planes<'a, f16>),
    U8(Planes<'a, u8>),
    I8(Planes<'a, i8>),
}

/// The rows of each channel, or of all in the first.
pub(crate) type Planes<'a, T> = [&'a mut [T]; 4];

impl<'a> Band<'a> {
    /// Cuts a tensor at row `row`: those above it, and the others. With patches, `row` begins one.
    pub(super) fn split(
        out: TensorMut<'a>,
        layout: Layout,
        channels: usize,
        width: usize,
        row: usize,
    ) -> [Self; 2] {
        let cut = Cut { planar: layout == Layout::Nchw, channels, at: row * width };
        match out {
            TensorMut::F32(out) => cut.planes(out).map(Self::F32),
            TensorMut::F16(out) => cut.planes(out).map(Self::F16),
            TensorMut::U8(out) => cut.planes(out).map(Self::U8),
            TensorMut::I8(out) => cut.planes(out).map(Self::I8),
        }
    }
}

/// How a tensor is cut.
#[derive(Clone, Copy)]
struct Cut {
    planar: bool,
    channels: usize,
    /// Pixels before it.
    at: usize,
}

impl Cut {
    fn planes<T>(self, out: &mut [T]) -> [Planes<'_, T>; 2] {
        let (planes, at) = if self.planar { (self.channels, self.at) } else { (1, self.at * self.channels) };
        let len = out.len() / planes;
        let mut halves: [Planes<'_, T>; 2] = Default::default();
        for (index, plane) in out.chunks_exact_mut(len.max(1)).take(planes).enumerate() {
            let (above, below) = plane.split_at_mut(at);
            halves[0][index] = above;
            halves[1][index] = below;
        }
        halves
    }
}
