//! Bits of a scan's entropy-coded data.

/// Zeros after the data, so that reading ahead is cheap. Reading them is noticed by [`Bits::remaining`].
const PADDING: usize = 8;

/// Entropy-coded data up to a marker, without the stuffed zeros; ITU-T T.81 section B.1.1.5.
#[derive(Default)]
pub(super) struct Segment {
    bytes: Vec<u8>,
}

impl Segment {
    /// Takes in the data at the beginning of `bytes` and returns how long it is there, if a marker ends it.
    pub(super) fn fill(&mut self, bytes: &[u8]) -> Option<usize> {
        self.bytes.clear();
        self.bytes.reserve(bytes.len().saturating_add(PADDING));
        let mut at = 0;
        loop {
            let rest = bytes.get(at..)?;
            let run = first_marker_byte(rest)?;
            match rest.get(run + 1)? {
                0 => {
                    self.bytes.extend_from_slice(rest.get(..=run)?);
                    at += run + 2;
                }
                // A fill byte before a marker.
                0xff => {
                    self.bytes.extend_from_slice(rest.get(..run)?);
                    at += run + 1;
                }
                _ => {
                    self.bytes.extend_from_slice(rest.get(..run)?);
                    self.bytes.extend_from_slice(&[0; PADDING]);
                    return Some(at + run);
                }
            }
        }
    }

    pub(super) fn bits(&self) -> Bits<'_> {
        Bits { bytes: &self.bytes, at: 0, buffer: 0, left: 0 }
    }
}

/// Where the first byte of a marker is; there is one in some 200 bytes.
fn first_marker_byte(bytes: &[u8]) -> Option<usize> {
    let without = |chunk: &&[u8; 32]| !chunk.iter().fold(false, |found, &byte| found | (byte == 0xff));
    let skipped = bytes.as_chunks().0.iter().take_while(without).count() * 32;
    let rest = bytes.get(skipped..)?;
    rest.iter().position(|&byte| byte == 0xff).map(|at| skipped + at)
}

/// Reads bits, most significant first.
#[derive(Clone, Copy)]
pub(super) struct Bits<'a> {
    bytes: &'a [u8],
    at: usize,
    /// The next `left` bits, from the top; below, some that follow or zeros.
    buffer: u64,
    left: u32,
}

impl Bits<'_> {
    /// Makes sure of 56 bits at least, zeros after the end.
    #[inline(always)]
    pub(super) fn refill(&mut self) {
        let word = self.bytes.get(self.at..).and_then(|rest| rest.first_chunk());
        let word = u64::from_be_bytes(word.copied().unwrap_or_default());
        // Bits of the byte that is only begun are read again, and are the same.
        self.buffer |= word >> self.left;
        self.at += (63 - self.left as usize) >> 3;
        self.left |= 56;
    }

    /// The next `count` bits, 1 to 32, which a refill has made sure of.
    #[inline(always)]
    pub(super) fn peek(&self, count: u32) -> u32 {
        (self.buffer >> (64 - count)) as u32
    }

    #[inline(always)]
    pub(super) fn skip(&mut self, count: u32) {
        self.buffer <<= count;
        self.left -= count;
    }

    /// The next `count` bits, 0 to 16, as a number.
    #[inline(always)]
    pub(super) fn take(&mut self, count: u32) -> u32 {
        // In two shifts, as `count` may be 0.
        let value = (self.buffer >> 1 >> (63 - count)) as u32;
        self.skip(count);
        value
    }

    /// The next bit, with a refill.
    #[inline(always)]
    pub(super) fn flag(&mut self) -> bool {
        self.refill();
        self.take(1) == 1
    }

    /// A number of `size` bits, 0 to 16, as T.81 F.2.2.1 EXTEND reads it.
    #[inline(always)]
    pub(super) fn signed(&mut self, size: u32) -> i32 {
        extend(self.take(size), size)
    }

    /// Bits in the data that have not been read; `None` if more was read than there is.
    pub(super) fn remaining(&self) -> Option<usize> {
        let total = (self.bytes.len().saturating_sub(PADDING)) * 8;
        total.checked_sub(self.at * 8 - self.left as usize)
    }
}

/// T.81 F.2.2.1: numbers whose first bit is 0 are negative.
#[inline(always)]
pub(super) fn extend(bits: u32, size: u32) -> i32 {
    let half = 1_i32 << size >> 1;
    let value = bits as i32;
    if value < half { value - (1 << size) + 1 } else { value }
}
