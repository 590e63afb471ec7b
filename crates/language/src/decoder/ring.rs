//! How far back a KV cache can be taken.

use super::Sliding;

/// What a cache holds beyond the sequence that it is used for: positions that were written and taken back still count, as
/// they wrote over what a ring held before.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct Written {
    /// 1 + the newest position that was written since position 0 was.
    high: usize,
}

impl Written {
    /// Notes that the positions from `start` to `end`, exclusive, were written.
    pub(crate) fn note(&mut self, start: usize, end: usize) {
        self.high = if start == 0 { end } else { self.high.max(end) };
    }

    /// The most positions of the first `wanted` that still hold, when the sequence would go on from there: `wanted`, or 0 if
    /// what its window would see was written over.
    pub(crate) fn usable(&self, wanted: usize, sliding: Option<Sliding>) -> usize {
        let Some((window, slots)) = sliding.and_then(|sliding| Some((sliding.window, sliding.slots?))) else {
            return wanted;
        };
        let wrapped = self.high > slots;
        if !wrapped || self.high - wanted <= slots.saturating_sub(window) { wanted } else { 0 }
    }

    pub(crate) fn high(&self) -> usize {
        self.high
    }

    pub(crate) fn of(high: usize) -> Self {
        Self { high }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const RING: Option<Sliding> = Some(Sliding { window: 8, slots: Some(24) });

    fn written(until: usize) -> Written {
        let mut written = Written::default();
        written.note(0, until);
        written
    }

    #[test]
    fn a_cache_that_keeps_all_goes_back_anywhere() {
        assert_eq!(written(1000).usable(1, None), 1);
        assert_eq!(written(1000).usable(1, Some(Sliding { window: 8, slots: None })), 1);
    }

    #[test]
    fn a_ring_goes_back_by_its_slots_without_its_window() {
        assert_eq!(written(24).usable(1, RING), 1);
        assert_eq!(written(25).usable(9, RING), 9);
        assert_eq!(written(25).usable(8, RING), 0);
        assert_eq!(written(100).usable(84, RING), 84);
        assert_eq!(written(100).usable(83, RING), 0);
    }

    #[test]
    fn what_was_taken_back_counts_until_the_beginning_is_written_again() {
        let mut written = written(100);
        written.note(90, 92);
        assert_eq!(written.usable(84, RING), 84);
        assert_eq!(written.usable(83, RING), 0);
        written.note(0, 16);
        assert_eq!(written.usable(3, RING), 3);
    }
}
