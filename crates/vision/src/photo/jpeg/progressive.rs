//! Blocks of progressive scans; ITU-T T.81 annex G.

use super::bits::Bits;
use super::corrupt;
use super::huffman::{Kind, Table};
use super::idct::ZIGZAG;
use super::scan::Scan;
use crate::Result;

/// What goes on from block to block.
#[derive(Default)]
pub(super) struct State {
    /// The last DC value of each component of the scan.
    pub(super) predicted: [i32; 4],
    /// Blocks that are still to come in a run of those without coefficients.
    pub(super) empty_blocks: u32,
}

/// A block's first bits of its DC coefficient.
#[inline(always)]
pub(super) fn read_dc(bits: &mut Bits<'_>, table: &Table, low: u32, predicted: &mut i32) -> Result<i16> {
    bits.refill();
    *predicted = predicted.wrapping_add(table.run_value(bits, Kind::Dc)?.value);
    Ok(predicted.wrapping_shl(low) as i16)
}

/// A block's first bits of its AC coefficients, unless it is in a run of empty ones. `nonzero` has a bit for each
/// coefficient that is not zero.
#[inline(always)]
pub(super) fn read_ac(
    bits: &mut Bits<'_>,
    table: &Table,
    scan: &Scan,
    state: &mut State,
    block: &mut [i16; 64],
    nonzero: &mut u64,
) -> Result<()> {
    let mut ahead = *bits;
    let mut next = scan.first;
    while next <= scan.last {
        ahead.refill();
        let symbol = table.symbol(&mut ahead)?;
        let (run, size) = (usize::from(symbol >> 4), u32::from(symbol & 15));
        if size == 0 && run < 15 {
            state.empty_blocks = (1 << run) - 1 + ahead.take(run as u32);
            break;
        }
        let at = next + run;
        if at > scan.last {
            return Err(corrupt("a block has more coefficients than its scan"));
        }
        if size > 0 {
            block[place(at)] = ahead.signed(size).wrapping_shl(scan.low) as i16;
            *nonzero |= 1 << at;
        }
        next = at + 1;
    }
    *bits = ahead;
    Ok(())
}

/// The next bit of a block's AC coefficients.
#[inline(always)]
pub(super) fn refine_ac(
    bits: &mut Bits<'_>,
    table: &Table,
    scan: &Scan,
    state: &mut State,
    block: &mut [i16; 64],
    nonzero: &mut u64,
) -> Result<()> {
    let bit = 1_i16 << scan.low;
    let mut ahead = *bits;
    let mut next = scan.first;
    while state.empty_blocks == 0 && next <= scan.last {
        ahead.refill();
        let symbol = table.symbol(&mut ahead)?;
        let (zeros, size) = (symbol >> 4, symbol & 15);
        let new = match size {
            0 if zeros < 15 => {
                // This block is among the run's.
                state.empty_blocks = (1 << zeros) + ahead.take(zeros.into());
                break;
            }
            0 => 0,
            1 => (ahead.take(1) as i16 * 2 - 1) * bit,
            _ => return Err(corrupt("a coefficient is refined by more than a bit")),
        };
        // Past so many coefficients that are still zero; those in between are refined.
        let still_zero = (0..zeros).fold(!*nonzero & from(next), |zeros, _| zeros & zeros.wrapping_sub(1));
        let at = still_zero.trailing_zeros() as usize;
        if at > scan.last {
            return Err(corrupt("a block has more coefficients than its scan"));
        }
        refine(&mut ahead, block, *nonzero & from(next) & !from(at), bit);
        block[place(at)] = new;
        *nonzero |= u64::from(new != 0) << at;
        next = at + 1;
    }
    if state.empty_blocks > 0 {
        refine(&mut ahead, block, *nonzero & from(next) & !from(scan.last + 1), bit);
        state.empty_blocks -= 1;
    }
    *bits = ahead;
    Ok(())
}

/// Where the coefficient read as number `k` lies.
#[inline(always)]
fn place(k: usize) -> usize {
    usize::from(ZIGZAG[k & 63] & 63)
}

/// The bits of coefficients from number `k` on.
#[inline(always)]
fn from(k: usize) -> u64 {
    u64::MAX.checked_shl(k as u32).unwrap_or(0)
}

/// Moves each of these coefficients away from zero by a bit, if the next bit says so.
#[inline(always)]
fn refine(bits: &mut Bits<'_>, block: &mut [i16; 64], mut which: u64, bit: i16) {
    while which != 0 {
        let coefficient = &mut block[place(which.trailing_zeros() as usize)];
        which &= which - 1;
        let step = (*coefficient >> 15 | 1) * bit;
        // Unless it has the bit already.
        let moves = bits.flag() && *coefficient & bit == 0;
        *coefficient = coefficient.wrapping_add(step * i16::from(moves));
    }
}
