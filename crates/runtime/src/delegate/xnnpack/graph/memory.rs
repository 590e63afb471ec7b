//! The memory that XNNPACK takes: a workspace for the values between nodes, packed weights and tables.

use super::nodes::Outcome;

/// XNNPACK rounds the sizes of values up to this, the most of any processor.
const ALIGNMENT: u64 = 128;

/// XNNPACK's own structures for a node, its operator and its values: 1.3 to 1.6 KB were measured on x86_64, over networks of
/// 60 to 130 nodes.
const NODE_BYTES: u64 = 1600;

/// A piece of the workspace: its bytes and the first and last node that need it.
#[derive(Debug, Clone, Copy)]
struct Piece {
    bytes: u64,
    first: usize,
    last: usize,
}

/// Bytes of a workspace for all `pieces`, laid out as XNNPACK's planner does: the largest first, each in the smallest gap
/// between those that live at the same time. An upper bound: XNNPACK also lets outputs take their inputs' place.
fn plan(mut pieces: Vec<Piece>) -> u64 {
    pieces.sort_by_key(|piece| std::cmp::Reverse(piece.bytes));
    // In order of their starts.
    let mut placed: Vec<(u64, u64, Piece)> = Vec::with_capacity(pieces.len());
    let mut end = 0;
    for piece in pieces {
        let bytes = piece.bytes.next_multiple_of(ALIGNMENT);
        let alive = |other: &Piece| other.first <= piece.last && piece.first <= other.last;
        let taken = placed.iter().filter(|other| alive(&other.2)).map(|other| (other.0, other.1));
        let start = smallest_gap(taken, bytes);
        end = end.max(start + bytes);
        let at = placed.partition_point(|other| other.0 <= start);
        placed.insert(at, (start, start + bytes, piece));
    }
    end
}

/// The start of the smallest gap in `taken`, sorted by start, that holds `bytes`; the end of all where none does.
fn smallest_gap(taken: impl Iterator<Item = (u64, u64)>, bytes: u64) -> u64 {
    let mut best: Option<(u64, u64)> = None;
    let mut end = 0;
    for (start, stop) in taken {
        let gap = start.saturating_sub(end);
        if gap >= bytes && best.is_none_or(|(smallest, _)| gap < smallest) {
            best = Some((gap, end));
        }
        end = end.max(stop);
    }
    best.map_or(end, |(_, start)| start)
}

/// Far more than any device has for intermediate values.
const MAX_WORKSPACE_BYTES: u64 = 1 << 36;

/// Memory that a run needs.
#[derive(Debug)]
pub(super) struct Need {
    /// For values between nodes, at most.
    pub(super) workspace_bytes: u64,
    /// Kept from the load or the first run on: weights as XNNPACK packs them, tables of addresses, its own structures.
    pub(super) kept_bytes: u64,
}

/// What the nodes need, as it adds up.
pub(super) struct Memory {
    pieces: Vec<Piece>,
    /// The piece of each value that lives in the workspace.
    of_value: Vec<Option<usize>>,
    kept_bytes: u64,
}

impl Memory {
    pub(super) fn new(values: usize) -> Self {
        Self { pieces: Vec::new(), of_value: vec![None; values], kept_bytes: 0 }
    }

    /// Node `index` reads `inputs` and has given `outcome`.
    pub(super) fn step(&mut self, index: usize, inputs: &[usize], outcome: &Outcome) -> Result<(), String> {
        for &input in inputs {
            if let Some(piece) = self.of_value[input] {
                self.pieces[piece].last = index;
            }
        }
        let Outcome { scratch_bytes, held_bytes, packed_bytes, .. } = *outcome;
        if scratch_bytes > MAX_WORKSPACE_BYTES || held_bytes > MAX_WORKSPACE_BYTES {
            return Err(format!("needs {} bytes to work in", scratch_bytes.max(held_bytes)));
        }
        if scratch_bytes > 0 {
            self.pieces.push(Piece { bytes: scratch_bytes, first: index, last: index });
        }
        for bytes in [held_bytes, packed_bytes, NODE_BYTES] {
            self.kept_bytes = self.kept_bytes.saturating_add(bytes);
        }
        Ok(())
    }

    /// Node `index` gives `value`, of so many bytes.
    pub(super) fn begin(&mut self, value: usize, index: usize, bytes: u64) {
        self.of_value[value] = Some(self.pieces.len());
        self.pieces.push(Piece { bytes, first: index, last: index });
    }

    pub(super) fn finish(self) -> Result<Need, String> {
        let workspace_bytes = plan(self.pieces);
        if workspace_bytes > MAX_WORKSPACE_BYTES {
            return Err(format!("it needs {workspace_bytes} bytes for values between its nodes"));
        }
        Ok(Need { workspace_bytes, kept_bytes: self.kept_bytes })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn piece(bytes: u64, first: usize, last: usize) -> Piece {
        Piece { bytes, first, last }
    }

    #[test]
    fn pieces_that_never_live_together_share_their_place() {
        assert_eq!(plan(vec![piece(1280, 0, 1), piece(640, 2, 3)]), 1280);
        assert_eq!(plan(vec![piece(1280, 0, 2), piece(640, 2, 3)]), 1920);
        assert_eq!(plan(vec![]), 0);
    }

    #[test]
    fn a_gap_is_used_before_the_end() {
        // The second ends before the last begins and leaves a gap between the first and the third.
        let pieces = vec![piece(1024, 0, 9), piece(768, 0, 4), piece(512, 0, 9), piece(256, 6, 7)];
        assert_eq!(plan(pieces), 1024 + 768 + 512);
    }
}
