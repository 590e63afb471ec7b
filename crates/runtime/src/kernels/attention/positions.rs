//! Where the rows of a call are written, and what they see.

use std::ops::Range;

/// The rows' positions, of which `p` lives in slot `p % slots`.
#[derive(Clone, Copy)]
pub(in crate::kernels) struct Positions<'a> {
    pub(in crate::kernels) written: &'a [i64],
    /// The last position that each row sees, if not its own.
    pub(in crate::kernels) visible_until: Option<&'a [i64]>,
    /// 0 is none.
    pub(in crate::kernels) window: i64,
    pub(in crate::kernels) slots: usize,
}

impl Positions<'_> {
    /// Checks that every row has a slot, sees itself, and sees nothing that is past the cache or that a row of this call
    /// is written over.
    ///
    /// # Errors
    /// The first row for which that does not hold.
    pub(in crate::kernels) fn check(&self) -> Result<(), String> {
        if self.window < 0 {
            return Err(format!("window is {}; 0 is none", self.window));
        }
        let slots = self.slots as i64;
        // With a window a position may be any: the cache is a ring.
        let end = if self.window == 0 { slots } else { i64::MAX };
        let (mut oldest, mut newest) = (i64::MAX, 0);
        for (row, &position) in self.written.iter().enumerate() {
            if !(0..end).contains(&position) {
                return Err(format!("cache_position[{row}] is {position}, the cache has {slots} slots"));
            }
            let until = self.last(row);
            if !(position..end).contains(&until) {
                return Err(format!(
                    "visible_until[{row}] is {until}, must be from {position}, its row's position, to {}",
                    end - 1
                ));
            }
            (oldest, newest) = (oldest.min(self.first(row)), newest.max(until));
        }
        if !self.written.is_empty() && newest - oldest >= slots {
            return Err(format!(
                "its rows see and write the positions {oldest} to {newest}, more than the cache's {slots} slots: give fewer \
                 rows a call"
            ));
        }
        Ok(())
    }

    /// The positions that a row sees.
    pub(super) fn visible(&self, row: usize) -> Range<usize> {
        self.first(row) as usize..self.last(row) as usize + 1
    }

    /// The slot that a row is written to.
    pub(in crate::kernels) fn slot(&self, row: usize) -> usize {
        self.written[row] as usize % self.slots
    }

    fn first(&self, row: usize) -> i64 {
        if self.window == 0 { 0 } else { (self.written[row] - self.window + 1).max(0) }
    }

    fn last(&self, row: usize) -> i64 {
        self.visible_until.map_or(self.written[row], |until| until[row])
    }
}
