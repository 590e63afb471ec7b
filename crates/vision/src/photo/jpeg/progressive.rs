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

/// A block's first bits of its AC coefficients, unless it is in a run of empty ones. Says whether there are any.
#[inline(always)]
pub(super) fn read_ac(
    bits: &mut Bits<'_>,
    table: &Table,
    scan: &Scan,
    state: &mut State,
    block: &mut [i16; 64],
) -> Result<bool> {
    let mut ahead = *bits;
    let (mut next, mut found) = (scan.first, false);
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
            block[usize::from(ZIGZAG[at])] = ahead.signed(size).wrapping_shl(scan.low) as i16;
            found = true;
        }
        next = at + 1;
    }
    *bits = ahead;
    Ok(found)
}

/// The next bit of a block's AC coefficients.
#[inline(always)]
pub(super) fn refine_ac(
    bits: &mut Bits<'_>,
    table: &Table,
    scan: &Scan,
    state: &mut State,
    block: &mut [i16; 64],
) -> Result<()> {
    let bit = 1_i16 << scan.low;
    let mut ahead = *bits;
    let mut next = scan.first;
    while state.empty_blocks == 0 && next <= scan.last {
        ahead.refill();
        let symbol = table.symbol(&mut ahead)?;
        let (mut zeros, size) = (symbol >> 4, symbol & 15);
        let new = match size {
            0 if zeros < 15 => {
                // This block is among the run's.
                state.empty_blocks = (1 << zeros) + ahead.take(zeros.into());
                break;
            }
            0 => 0,
            1 if ahead.take(1) == 1 => bit,
            1 => -bit,
            _ => return Err(corrupt("a coefficient is refined by more than a bit")),
        };
        // Past so many coefficients that are still zero, refining the others.
        loop {
            if next > scan.last {
                return Err(corrupt("a block has more coefficients than its scan"));
            }
            let coefficient = &mut block[usize::from(ZIGZAG[next & 63] & 63)];
            next += 1;
            if *coefficient != 0 {
                *coefficient = refined(*coefficient, ahead.flag(), bit);
            } else if zeros == 0 {
                *coefficient = new;
                break;
            } else {
                zeros -= 1;
            }
        }
    }
    if state.empty_blocks > 0 {
        for &at in ZIGZAG.get(next..=scan.last).unwrap_or(&[]) {
            let coefficient = &mut block[usize::from(at & 63)];
            if *coefficient != 0 {
                *coefficient = refined(*coefficient, ahead.flag(), bit);
            }
        }
        state.empty_blocks -= 1;
    }
    *bits = ahead;
    Ok(())
}

/// Away from zero by a bit, if so said, unless that is known already.
#[inline(always)]
fn refined(coefficient: i16, more: bool, bit: i16) -> i16 {
    let step = if coefficient > 0 { bit } else { -bit };
    if more && coefficient & bit == 0 { coefficient.wrapping_add(step) } else { coefficient }
}
