//! Rows that were made and are needed again.

use std::ops::Range;

/// A window of rows that moves down a picture.
#[derive(Debug)]
pub(super) struct Stage<T> {
    values: Vec<T>,
    /// Values in a row.
    len: usize,
    /// The rows that it has room for, more than are asked for at a time, so that they are moved seldom.
    room: usize,
    /// Those that it holds; the first is at the start.
    held: Range<usize>,
}

impl<T> Default for Stage<T> {
    fn default() -> Self {
        Self { values: Vec::new(), len: 0, room: 0, held: 0..0 }
    }
}

impl<T: Copy + Default> Stage<T> {
    /// Makes room for rows of `len` values, of which up to `most` are asked for at a time.
    pub(super) fn prepare(&mut self, len: usize, most: usize) {
        self.len = len;
        self.room = 2 * most;
        self.values.clear();
        self.values.resize(self.room * len, T::default());
        self.clear();
    }

    /// Forgets all rows: another picture begins.
    pub(super) fn clear(&mut self) {
        self.held = 0..0;
    }

    /// The rows of `wanted`, one after the other. Those not held are made, from top to bottom; no row is asked for
    /// above one that was asked for before.
    pub(super) fn rows(&mut self, wanted: Range<usize>, mut make: impl FnMut(usize, &mut [T])) -> &[T] {
        if wanted.start >= self.held.end {
            self.held = wanted.start..wanted.start;
        } else if wanted.end - self.held.start > self.room {
            let kept =
                (wanted.start - self.held.start) * self.len..(self.held.end - self.held.start) * self.len;
            self.values.copy_within(kept, 0);
            self.held.start = wanted.start;
        }
        let first = self.held.start;
        while self.held.end < wanted.end {
            let row = self.held.end;
            make(row, &mut self.values[(row - first) * self.len..][..self.len]);
            self.held.end += 1;
        }
        &self.values[(wanted.start - first) * self.len..(wanted.end - first) * self.len]
    }
}
