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

/// Bytes of each sample.
const SAMPLE: u64 = 4096;
/// Bytes from the start of one sample to that of the next. Whatever is shorter than this counts in full.
const STRIDE: u64 = 1 << 20;

/// A hash of a program: of its description in full and of samples of each segment and data file, so that large weights
/// need not be read. A change that is at least [`STRIDE`] long never goes unseen. SHA-256.
pub(crate) fn fingerprint(program: &Program) -> Result<[u8; 32]> {
    let file = program.file()?;
    let mut hash = Sha256::new();
    hash.update(file.bytes.to_le_bytes());
    hash.update(program.read(file.description.clone())?);
    for segment in &file.segments {
        for range in samples(segment) {
            hash.update(program.read(range)?);
        }
    }
    for (key, bytes) in program.external().into_iter().flat_map(|data| data.entries()) {
        hash.update(key.as_bytes());
        hash.update((bytes.len() as u64).to_le_bytes());
        for range in samples(&(0..bytes.len() as u64)) {
            hash.update(&bytes[range.start as usize..range.end as usize]);
        }
    }
    Ok(hash.finalize().into())
}

/// All of a short range; of a long one a sample each [`STRIDE`], and its end.
fn samples(range: &Range<u64>) -> Vec<Range<u64>> {
    if range.end - range.start <= STRIDE {
        return vec![range.clone()];
    }
    let starts = (range.start..range.end - SAMPLE).step_by(STRIDE as usize).chain([range.end - SAMPLE]);
    starts.map(|start| start..start + SAMPLE).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn short_ranges_count_in_full_and_long_ones_from_end_to_end() {
        for short in [7..7, 7..7 + STRIDE] {
            assert_eq!(samples(&short), std::slice::from_ref(&short));
        }
        let long = 7..7 + 3 * STRIDE + 5;
        let taken = samples(&long);
        assert_eq!((taken[0].start, taken.last().unwrap().end), (long.start, long.end));
        assert!(taken.windows(2).all(|pair| pair[1].start - pair[0].start <= STRIDE), "{taken:?}");
    }
}
