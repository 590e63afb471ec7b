//! Blocks of sequential scans; ITU-T T.81 section F.2.

use super::bits::Bits;
use super::huffman::{Kind, Table};
use super::pairs::{Block, PairTable};
use crate::Result;

/// Reads one block into `out`, which must be zero, and returns the number of its last coefficient.
#[inline(always)]
pub(super) fn read_block(
    bits: &mut Bits<'_>,
    dc: &Table,
    ac: &PairTable,
    predicted: &mut i32,
    out: &mut Block,
) -> Result<usize> {
    bits.refill();
    let difference = dc.run_value(bits, Kind::Dc)?.value;
    *predicted = predicted.wrapping_add(difference);
    out.coefficients()[0] = *predicted as i16;
    ac.read(bits, out)
}
