//! Memory that a kernel works in, grown when a call needs more and then kept by the thread.

/// A cache line, so that vectors don't cross two.
#[derive(Clone, Copy)]
#[repr(C, align(64))]
struct Line([f32; 16]);

/// Memory to be divided up.
#[derive(Default)]
pub(super) struct Scratch(Vec<Line>);

impl Scratch {
    /// As many floats as are asked for, from a cache line's start on. Anything may be in them.
    pub(super) fn floats(&mut self, count: usize) -> &mut [f32] {
        let lines = count.div_ceil(16);
        if self.0.len() < lines {
            self.0.resize(lines, Line([0.0; 16]));
        }
        // SAFETY: a line is 16 floats, and there are enough.
        unsafe { std::slice::from_raw_parts_mut(self.0.as_mut_ptr().cast(), count) }
    }
}

/// Divides a scratch's floats up.
pub(super) struct Parts<'a>(pub(super) &'a mut [f32]);

impl<'a> Parts<'a> {
    /// Floats that `count` of them take, with what keeps the next ones at a cache line's start.
    pub(super) const fn length(count: usize) -> usize {
        count.next_multiple_of(16)
    }

    /// The next ones.
    pub(super) fn take(&mut self, count: usize) -> &'a mut [f32] {
        let (taken, rest) = std::mem::take(&mut self.0).split_at_mut(Self::length(count));
        self.0 = rest;
        taken
    }
}
