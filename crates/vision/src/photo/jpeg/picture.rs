//! The picture as it comes out: from blocks of coefficients to rows of RGB.

use super::colour::Colours;
use super::frame::Frame;
use super::idct::transform;
use super::plane::Plane;
use super::processor::Processor;
use crate::{Error, Result};

/// The picture, which grows from the top by rows of groups of blocks.
pub(super) struct Picture {
    planes: Vec<Plane>,
    /// Steps of each component's coefficients.
    pub(super) steps: Vec<[u16; 64]>,
    colours: Colours,
    pub(super) width: usize,
    pub(super) height: usize,
    /// Rows of the picture that a row of groups holds.
    group_rows: usize,
    /// Rows of it that wait for the next one.
    waiting_rows: usize,
    done_rows: usize,
    pub(super) rgb: Vec<u8>,
}

/// Size of the picture scaled to `scale` eighths.
pub(super) fn scaled(frame: &Frame, scale: usize) -> [usize; 2] {
    [frame.width, frame.height].map(|len| (len * scale).div_ceil(8))
}

impl Picture {
    /// Nothing is allocated yet for the picture itself.
    pub(super) fn new(frame: &Frame, steps: Vec<[u16; 64]>, colours: Colours, scale: usize) -> Result<Self> {
        let planes = frame.components.iter().map(|component| Plane::new(frame, component, scale));
        let planes: Vec<_> = planes
            .collect::<Option<_>>()
            .ok_or(Error::UnsupportedPhoto { format: "JPEG with unusual chroma subsampling" })?;
        let [width, height] = scaled(frame, scale);
        let looks_around = planes.iter().any(Plane::looks_around);
        let waiting_rows = if looks_around { frame.max_v } else { 0 };
        let group_rows = frame.max_v * scale;
        Ok(Self {
            planes,
            steps,
            colours,
            width,
            height,
            group_rows,
            waiting_rows,
            done_rows: 0,
            rgb: Vec::new(),
        })
    }

    /// Bytes that it takes once allocated.
    pub(super) fn bytes(&self) -> u64 {
        let planes: usize = self.planes.iter().map(Plane::bytes).sum();
        (self.width as u64 * self.height as u64).saturating_mul(3).saturating_add(planes as u64)
    }

    pub(super) fn allocate(&mut self) {
        self.rgb = vec![0; self.width * self.height * 3];
    }

    /// Takes in a block of a component, `column` blocks from the left and `row` from the top of its row of groups.
    #[inline(always)]
    pub(super) fn block(
        &mut self,
        processor: impl Processor,
        component: usize,
        [column, row]: [usize; 2],
        block: &[i16; 64],
        last: usize,
    ) {
        if let (Some(plane), Some(steps)) = (self.planes.get_mut(component), self.steps.get(component)) {
            let size = plane.size;
            transform(processor, block, steps, last, size, plane.square(column, row));
        }
    }

    /// Writes the rows that are complete once a row of groups is.
    #[inline(always)]
    pub(super) fn group_row_done(&mut self, processor: impl Processor, row: usize) {
        let end = (row + 1) * self.group_rows;
        let until = if end >= self.height { self.height } else { end - self.waiting_rows };
        for y in self.done_rows..until {
            let mut rows = [&[][..]; 4];
            // A loop, as a closure would be compiled for any processor.
            for (row, plane) in rows.iter_mut().zip(&mut self.planes) {
                *row = plane.picture_row(y);
            }
            let bytes = self.width * 3;
            if let Some(out) = self.rgb.get_mut(y * bytes..(y + 1) * bytes) {
                self.colours.to_rgb(processor, rows, out);
            }
        }
        self.done_rows = until;
        self.planes.iter_mut().for_each(Plane::next_group_row);
    }
}
