//! An owned, reusable copy of a frame.

use std::ops::Range;

use crate::{Frame, Plane, Result};

/// Memory that holds a copy of one frame at a time, so that the camera can have its own back.
///
/// Copying again reuses the memory: nothing is allocated once a frame of the largest size has been seen.
#[derive(Debug, Default)]
pub struct FrameBuffer {
    bytes: Vec<u8>,
    /// Where each plane lies in `bytes`. Planes that shared memory still do.
    ranges: [Range<usize>; 3],
    /// The frame without its bytes.
    frame: Option<Frame<'static>>,
}

impl FrameBuffer {
    /// An empty buffer, which allocates nothing yet.
    pub fn new() -> Self {
        Self::default()
    }

    /// Copies the planes of `frame`, once each, in place of what was held before. Strides stay as they are; bytes
    /// beyond the last sample of a plane are left out, and planes that share memory are copied together.
    ///
    /// # Errors
    /// As [`Frame::validate`]; what was held before is then kept.
    pub fn copy_from(&mut self, frame: &Frame<'_>) -> Result<()> {
        frame.validate()?;
        let planes: [&[u8]; 3] = [0, 1, 2].map(|index| frame.used_bytes(index));
        self.bytes.clear();
        // Lowest address first, so that a plane can only continue the one before it.
        let mut order = [0, 1, 2];
        order.sort_unstable_by_key(|&index: &usize| planes[index].as_ptr().addr());
        self.bytes.reserve(planes.iter().map(|plane| plane.len()).sum());
        // The run of memory copied last: its address and where it lies here.
        let mut run = (0, 0..0);
        for index in order {
            let plane = planes[index];
            let address = plane.as_ptr().addr();
            let (run_address, copied) = &run;
            let offset = address.wrapping_sub(*run_address);
            let shares = !plane.is_empty() && offset < copied.len();
            let (start, already) = if shares {
                (copied.start + offset, (copied.len() - offset).min(plane.len()))
            } else {
                (self.bytes.len(), 0)
            };
            self.bytes.extend_from_slice(&plane[already..]);
            self.ranges[index] = start..start + plane.len();
            let run_address = if shares { *run_address } else { address };
            let run_start = if shares { copied.start } else { start };
            run = (run_address, run_start..self.bytes.len());
        }
        let planes = frame.planes.map(|plane| Plane { bytes: &[], ..plane });
        self.frame = Some(Frame { planes, ..without_planes(frame) });
        Ok(())
    }

    /// The frame that was copied last. Before the first copy it has no pixels, and [`Frame::validate`] refuses it.
    pub fn frame(&self) -> Frame<'_> {
        let Some(frame) = self.frame else { return Frame::empty() };
        let plane = |index: usize| Plane {
            bytes: self.bytes.get(self.ranges[index].clone()).unwrap_or(&[]),
            ..frame.planes[index]
        };
        Frame { planes: [plane(0), plane(1), plane(2)], ..frame }
    }
}

/// All of a frame but its planes.
fn without_planes(frame: &Frame<'_>) -> Frame<'static> {
    Frame {
        format: frame.format,
        width: frame.width,
        height: frame.height,
        crop: frame.crop,
        rotation: frame.rotation,
        mirror: frame.mirror,
        matrix: frame.matrix,
        range: frame.range,
        chroma_siting: frame.chroma_siting,
        timestamp_ns: frame.timestamp_ns,
        ..Frame::empty()
    }
}
