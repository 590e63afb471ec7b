//! What ties a snapshot to its method.

use super::mismatch;
use crate::error::Result;
use crate::program::Program;
use sha2::{Digest, Sha256};
use std::ops::Range;

/// A method of a program, and how its memory is laid out.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Identity {
    pub(super) fingerprint: [u8; 32],
    pub(super) method: String,
    pub(super) arena_bytes: Vec<u64>,
}

impl Identity {
    pub(super) fn must_equal(&self, other: &Self) -> Result<()> {
        if self.method != other.method {
            return Err(mismatch(format!("it is of method `{}`, not `{}`", self.method, other.method)));
        }
        if self.fingerprint != other.fingerprint || self.arena_bytes != other.arena_bytes {
            return Err(mismatch("it is of another program".into()));
        }
        Ok(())
    }
}

/// Bytes at each end of a segment that count.
const ENDS: u64 = 4096;

/// A hash of a program: of its description in full and of the ends of each segment and data file, so that large weights
/// need not be read. SHA-256.
pub(crate) fn fingerprint(program: &Program) -> Result<[u8; 32]> {
    let file = program.file()?;
    let mut hash = Sha256::new();
    hash.update(file.bytes.to_le_bytes());
    hash.update(program.read(file.description.clone())?);
    for segment in &file.segments {
        for range in ends(segment) {
            hash.update(program.read(range)?);
        }
    }
    for (key, bytes) in program.external().into_iter().flat_map(|data| data.entries()) {
        hash.update(key.as_bytes());
        hash.update((bytes.len() as u64).to_le_bytes());
        for range in ends(&(0..bytes.len() as u64)) {
            hash.update(&bytes[range.start as usize..range.end as usize]);
        }
    }
    Ok(hash.finalize().into())
}

fn ends(range: &Range<u64>) -> [Range<u64>; 2] {
    let first = range.start..range.end.min(range.start + ENDS);
    let last = first.end.max(range.end.saturating_sub(ENDS))..range.end;
    [first, last]
}
