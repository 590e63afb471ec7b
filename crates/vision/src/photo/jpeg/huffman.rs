//! Huffman codes; ITU-T T.81 annex C and section F.2.2.3.

use super::bits::{Bits, extend};
use super::corrupt;
use crate::Result;

/// Bits that are looked up at once. Most coefficients of a photo take fewer, their sign and size included.
pub(super) const LOOK: u32 = 11;

/// A table as a file defines it.
#[derive(Clone)]
pub(super) struct Definition {
    /// How many codes there are of 1 to 16 bits.
    pub(super) counts: [u8; 16],
    /// What they stand for.
    pub(super) symbols: Vec<u8>,
}

/// What the next [`LOOK`] bits begin with, in one word: bits of the code and the number after it (0: they are more
/// than were looked up), zeros before the number ([`Table::END`]: nothing but zeros is left), the number (if there are
/// 0 bits: the code's length and symbol, or 0).
#[derive(Clone, Copy, Default)]
struct Entry(u32);

impl Entry {
    fn new(bits: u32, run: usize, value: i32) -> Self {
        Self(bits | (run as u32) << 8 | (value as u32) << 16)
    }

    #[inline(always)]
    fn bits(self) -> u32 {
        self.0 & 0xff
    }

    #[inline(always)]
    fn run(self) -> usize {
        (self.0 >> 8 & 0xff) as usize
    }

    #[inline(always)]
    fn value(self) -> i32 {
        self.0 as i32 >> 16
    }
}

/// What the numbers after the codes are.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Kind {
    /// A difference whose size is the symbol.
    Dc,
    /// A coefficient whose size is the symbol's lower half, after a run in the upper one.
    Ac,
    /// Whatever the scan says: they are not looked up.
    Symbols,
}

/// A table to decode with.
pub(super) struct Table {
    look: Box<[Entry; 1 << LOOK]>,
    /// For each length, the first code that is greater than those of that length, aligned to 16 bits.
    above: [u32; 17],
    /// For each length, what to add to a code to get the index of its symbol.
    offset: [i32; 17],
    symbols: Vec<u8>,
}

/// A run of zeros and the number after it.
#[derive(Clone, Copy)]
pub(super) struct RunValue {
    pub(super) run: usize,
    pub(super) value: i32,
}

impl Kind {
    #[inline(always)]
    fn run_and_size(self, symbol: u8) -> (u8, u8) {
        if self == Self::Dc { (0, symbol) } else { (symbol >> 4, symbol & 15) }
    }
}

impl Table {
    /// A run that leads out of every block.
    pub(super) const END: usize = 128;

    pub(super) fn new(definition: &Definition, kind: Kind) -> Result<Self> {
        let bad = || corrupt("a Huffman table is not possible");
        let symbols = definition.symbols.clone();
        if kind == Kind::Dc && symbols.iter().any(|&symbol| symbol > 15) {
            return Err(bad());
        }
        let mut table =
            Self { look: Box::new([Entry::default(); 1 << LOOK]), above: [0; 17], offset: [0; 17], symbols };
        let (mut code, mut index) = (0_u32, 0_usize);
        for length in 1..=16_u32 {
            let count = usize::from(definition.counts[length as usize - 1]);
            table.offset[length as usize] = index as i32 - code as i32;
            for _ in 0..count {
                let &symbol = table.symbols.get(index).ok_or_else(bad)?;
                if length <= LOOK {
                    table.enter(code, length, symbol, kind);
                }
                code += 1;
                index += 1;
            }
            if code > 1 << length {
                return Err(bad());
            }
            table.above[length as usize] = code << (16 - length);
            code <<= 1;
        }
        Ok(table)
    }

    /// Fills in what begins with a code.
    fn enter(&mut self, code: u32, length: u32, symbol: u8, kind: Kind) {
        let first = code << (LOOK - length);
        let (run, size) = kind.run_and_size(symbol);
        let size = u32::from(size);
        for rest in 0..1_u32 << (LOOK - length) {
            let Some(entry) = self.look.get_mut((first + rest) as usize) else { return };
            *entry = if kind == Kind::Ac && symbol == 0 {
                Entry::new(length, Self::END, 0)
            } else if kind != Kind::Symbols && length + size <= LOOK {
                let number = rest >> (LOOK - length - size);
                Entry::new(length + size, run.into(), extend(number, size))
            } else {
                Entry::new(0, 0, (length << 8) as i32 | i32::from(symbol))
            };
        }
    }

    /// The bits, run and number of what `index`, of [`LOOK`] bits, begins with, if it is all there.
    pub(super) fn looked_up(&self, index: usize) -> Option<(u32, usize, i16)> {
        let entry = self.look.get(index).filter(|entry| entry.bits() != 0)?;
        Some((entry.bits(), entry.run(), entry.value() as i16))
    }

    /// The next code and its number, after a refill. The table must be of this kind.
    #[inline(always)]
    pub(super) fn run_value(&self, bits: &mut Bits<'_>, kind: Kind) -> Result<RunValue> {
        let entry = self.look[bits.peek(LOOK) as usize];
        if entry.bits() != 0 {
            bits.skip(entry.bits());
            return Ok(RunValue { run: entry.run(), value: entry.value() });
        }
        let symbol = self.symbol_of(bits, entry)?;
        let (run, size) = kind.run_and_size(symbol);
        if kind == Kind::Ac && symbol == 0 {
            return Ok(RunValue { run: Self::END, value: 0 });
        }
        Ok(RunValue { run: run.into(), value: bits.signed(size.into()) })
    }

    /// The next code's symbol, after a refill. The table must be of [`Kind::Symbols`].
    #[inline(always)]
    pub(super) fn symbol(&self, bits: &mut Bits<'_>) -> Result<u8> {
        self.symbol_of(bits, self.look[bits.peek(LOOK) as usize])
    }

    #[inline(always)]
    fn symbol_of(&self, bits: &mut Bits<'_>, entry: Entry) -> Result<u8> {
        let (mut symbol, mut length) = (entry.value() as u8, entry.value() as u32 >> 8);
        if length == 0 {
            (symbol, length) = self.search(bits.peek(16))?;
        }
        bits.skip(length);
        Ok(symbol)
    }

    /// The symbol and length of a code of more than [`LOOK`] bits, with which these 16 begin. Takes no
    /// reference to anyone's bits, which keeps those in registers.
    #[cold]
    fn search(&self, next: u32) -> Result<(u8, u32)> {
        for length in LOOK as usize + 1..=16 {
            if next < self.above[length] {
                let code = next >> (16 - length);
                let index = code as i32 + self.offset[length];
                let symbol = usize::try_from(index).ok().and_then(|index| self.symbols.get(index));
                let &symbol = symbol.ok_or_else(|| corrupt("a Huffman code is not in its table"))?;
                return Ok((symbol, length as u32));
            }
        }
        Err(corrupt("a Huffman code is not in its table"))
    }
}
