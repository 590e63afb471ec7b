//! Blocks of sequential scans; ITU-T T.81 section F.2.

use super::bits::Bits;
use super::corrupt;
use super::huffman::{CODES_OF_A_REFILL, Kind, Table};
use super::idct::ZIGZAG;
use crate::Result;

/// Reads one block into `out`, which must be zero, and returns the number of its last coefficient.
#[inline(always)]
pub(super) fn read_block(
    bits: &mut Bits<'_>,
    dc: &Table,
    ac: &Table,
    predicted: &mut i32,
    out: &mut [i16; 64],
) -> Result<usize> {
    bits.refill();
    let difference = dc.run_value(bits, Kind::Dc)?.value;
    *predicted = predicted.wrapping_add(difference);
    out[0] = *predicted as i16;
    let (mut next, mut last) = (1, 0);
    'block: loop {
        bits.refill();
        // As many as a refill is good for.
        for _ in 0..CODES_OF_A_REFILL {
            let found = ac.run_value(bits, Kind::Ac)?;
            let at = next + found.run;
            if at >= 64 {
                if found.run == Table::END {
                    break 'block;
                }
                return Err(corrupt("a block has more than 64 coefficients"));
            }
            out[usize::from(ZIGZAG[at] & 63)] = found.value as i16;
            last = at;
            next = at + 1;
            if next == 64 {
                break 'block;
            }
        }
    }
    Ok(last)
}
