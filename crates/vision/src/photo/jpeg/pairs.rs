//! Two AC coefficients with one look: most take so few bits that a second one is in sight.

use super::bits::Bits;
use super::corrupt;
use super::huffman::{Kind, LOOK, Table};
use crate::Result;

/// What the next [`LOOK`] bits begin with: two coefficients, one, the end of the block, or one and the end. What is not
/// there is a zero somewhere ahead. All in one word, from the lowest bit: bits of all that (8; 0: not even one
/// coefficient was seen whole), where the first lies after the last one (4), bits of the first alone (4; 0: there is
/// none), where the second lies (8), how much further the next one is read (8; [`Table::END`] more at the end), and
/// the values (16 each).
#[derive(Clone, Copy, Default)]
struct Pair(u64);

impl Pair {
    fn new(bits: [u32; 2], places: [usize; 2], advance: usize, values: [i16; 2]) -> Self {
        let [first_bits, bits] = bits.map(u64::from);
        let [first, second] = places.map(|place| place as u64);
        let [low, high] = values.map(|value| u64::from(value.cast_unsigned()));
        let places = first << 8 | first_bits << 12 | second << 16 | (advance as u64) << 24;
        Self(bits | places | low << 32 | high << 48)
    }

    #[inline(always)]
    fn bits(self) -> u32 {
        (self.0 & 0xff) as u32
    }

    #[inline(always)]
    fn first(self) -> usize {
        (self.0 >> 8 & 0xf) as usize
    }

    #[inline(always)]
    fn first_bits(self) -> u32 {
        (self.0 >> 12 & 0xf) as u32
    }

    #[inline(always)]
    fn second(self) -> usize {
        (self.0 >> 16 & 0xff) as usize
    }

    #[inline(always)]
    fn advance(self) -> usize {
        (self.0 >> 24 & 0xff) as usize
    }

    #[inline(always)]
    fn values(self) -> [i16; 2] {
        [(self.0 >> 32) as i16, (self.0 >> 48) as i16]
    }
}

/// A table of AC coefficients.
pub(super) struct PairTable {
    pairs: Box<[Pair; 1 << LOOK]>,
    table: Table,
}

/// Codes that can be read after one refill, of 56 bits: all but the last take no more than [`LOOK`], or there is
/// another refill; the last takes no more than 16 + 15.
const LOOKS_OF_A_REFILL: usize = 3;
const _: () = assert!(LOOK < 16 && (LOOKS_OF_A_REFILL as u32 - 1) * LOOK + 31 <= 56);

/// Where the coefficient read as number `k` lies in its block, from where numbers that are too great lead out of it.
const PLACES: [u8; 128] = {
    let mut places = [64; 128];
    let mut k = 0;
    while k < 64 {
        places[k] = super::idct::ZIGZAG[k];
        k += 1;
    }
    places
};

/// A block of coefficients, and as much room for what is ahead of its end.
pub(super) struct Block([[i16; 64]; 2]);

impl Block {
    pub(super) fn new() -> Self {
        Self([[0; 64]; 2])
    }

    #[inline(always)]
    pub(super) fn coefficients(&mut self) -> &mut [i16; 64] {
        &mut self.0[0]
    }
}

impl PairTable {
    /// From a table of [`Kind::Ac`].
    pub(super) fn new(table: Table) -> Self {
        let mut pairs = Box::new([Pair::default(); 1 << LOOK]);
        for (index, pair) in pairs.iter_mut().enumerate() {
            let Some((bits, run, value)) = table.looked_up(index) else { continue };
            if run == Table::END {
                *pair = Pair::new([0, bits], [0, 0], Table::END, [0, 0]);
                continue;
            }
            let rest = index << bits & ((1 << LOOK) - 1);
            let second = table.looked_up(rest).filter(|&(more, ..)| bits + more <= LOOK);
            *pair = match second {
                None => Pair::new([bits; 2], [run, run + 1], run + 1, [value, 0]),
                Some((more, Table::END, _)) => {
                    Pair::new([bits, bits + more], [run, run + 1], run + 1 + Table::END, [value, 0])
                }
                Some((more, run_2, value_2)) => {
                    let second = run + 1 + run_2;
                    Pair::new([bits, bits + more], [run, second], second + 1, [value, value_2])
                }
            };
        }
        Self { pairs, table }
    }

    /// Reads the AC coefficients of a block that is zero and returns the number of the last.
    #[inline(always)]
    pub(super) fn read(&self, bits: &mut Bits<'_>, block: &mut Block) -> Result<usize> {
        let out = block.0.as_flattened_mut();
        let place = |at: usize| usize::from(PLACES[at & 127] & 127);
        // A copy of which no reference is taken stays in registers.
        let mut ahead = *bits;
        let mut next = 1_usize;
        'block: loop {
            ahead.refill();
            for _ in 0..LOOKS_OF_A_REFILL {
                let pair = self.pairs[ahead.peek(LOOK) as usize];
                if pair.bits() == 0 {
                    let found = self.table.run_value(&mut ahead, Kind::Ac)?;
                    ahead.refill();
                    if found.run == Table::END {
                        next += Table::END;
                    } else {
                        out[place(next + found.run)] = found.value as i16;
                        next += found.run + 1;
                    }
                } else {
                    let before = ahead;
                    ahead.skip(pair.bits());
                    let [first, second] = pair.values();
                    out[place(next + pair.first())] = first;
                    out[place(next + pair.second())] = second;
                    let last = next + pair.first();
                    next += pair.advance();
                    if last == 63 && pair.first_bits() != 0 {
                        // The block is full: what follows is the next one's.
                        (ahead, next) = (before, 64);
                        ahead.skip(pair.first_bits());
                    }
                }
                if next >= 64 {
                    break 'block;
                }
            }
        }
        *bits = ahead;
        let end = if next >= Table::END { next - Table::END } else { next };
        // Without an end there is a coefficient in the last place.
        if end > 64 || (next < Table::END && end != 64) {
            return Err(corrupt("a block has more than 64 coefficients"));
        }
        Ok(end - 1)
    }
}
