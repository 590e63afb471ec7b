//! Scans that each give a part of the coefficients, which are kept until all are there.

use super::baseline::read_block;
use super::bits::Bits;
use super::corrupt;
use super::frame::{Component, Frame};
use super::pairs::Block;
use super::picture::Picture;
use super::processor::Processor;
use super::progressive::{State, read_ac, read_dc, refine_ac};
use super::scan::{Scan, ScanComponent, ScanTables, Sink};
use crate::Result;

/// All coefficients of a picture.
pub(super) struct Coefficients {
    components: Vec<ComponentBlocks>,
}

struct ComponentBlocks {
    blocks: Vec<[i16; 64]>,
    /// A bit for each coefficient of a block, by its number, that is not zero, DC left out. Most scans have nothing to
    /// say of most blocks.
    nonzero: Vec<u64>,
    /// Blocks in a row, those outside of the picture included.
    stride: usize,
    /// For each coefficient, how many of its bits are not known yet, once any is.
    missing_bits: [Option<u32>; 64],
}

impl Coefficients {
    pub(super) fn new(frame: &Frame) -> Self {
        let zero = |component: &Component| {
            let (stride, rows) = (frame.mcus_wide * component.h, frame.mcus_high * component.v);
            ComponentBlocks {
                blocks: vec![[0; 64]; stride * rows],
                nonzero: vec![0; stride * rows],
                stride,
                missing_bits: [None; 64],
            }
        };
        Self { components: frame.components.iter().map(zero).collect() }
    }

    /// Notes what a scan will give. It must begin or go on where earlier ones stopped.
    pub(super) fn expect(&mut self, frame: &Frame, scan: &Scan) -> Result<()> {
        let (band, high, low) =
            if frame.progressive { (scan.first..=scan.last, scan.high, scan.low) } else { (0..=63, 0, 0) };
        let before = (high > 0).then_some(high);
        for component in &scan.components {
            let Some(ComponentBlocks { missing_bits, .. }) = self.components.get_mut(component.index) else {
                continue;
            };
            let out_of_order = *band.start() > 0 && missing_bits[0].is_none();
            for missing in missing_bits.get_mut(band.clone()).unwrap_or_default() {
                if *missing != before || out_of_order {
                    return Err(corrupt("its scans are not in order"));
                }
                *missing = Some(low);
            }
        }
        Ok(())
    }

    /// Whether the scans gave everything.
    pub(super) fn check_complete(&self) -> Result<()> {
        let mut missing = self.components.iter().flat_map(|component| &component.missing_bits);
        if missing.any(|&missing| missing != Some(0)) {
            return Err(corrupt("scans are missing"));
        }
        Ok(())
    }

    /// Makes the picture.
    #[inline(always)]
    pub(super) fn reconstruct(&self, processor: impl Processor, frame: &Frame, picture: &mut Picture) {
        for row in 0..frame.mcus_high {
            for (index, (component, shape)) in self.components.iter().zip(&frame.components).enumerate() {
                for y in 0..shape.v {
                    let first = (row * shape.v + y) * component.stride;
                    let blocks = component.blocks.iter().zip(&component.nonzero).skip(first);
                    for (x, (block, &nonzero)) in blocks.take(shape.blocks_wide).enumerate() {
                        picture.block(
                            processor,
                            index,
                            [x, y],
                            block,
                            63 - (nonzero | 1).leading_zeros() as usize,
                        );
                    }
                }
            }
            picture.group_row_done(processor, row);
        }
    }
}

/// One of the scans.
pub(super) struct Buffered<'a> {
    pub(super) frame: &'a Frame,
    pub(super) scan: &'a Scan,
    pub(super) tables: &'a ScanTables,
    pub(super) state: State,
    pub(super) coefficients: &'a mut Coefficients,
}

impl Buffered<'_> {
    /// Reads what the scan gives of the block that is `column` blocks from the left and `row` from the top.
    #[inline(always)]
    fn block(
        &mut self,
        bits: &mut Bits<'_>,
        at: usize,
        component: &ScanComponent,
        [column, row]: [usize; 2],
    ) -> Result<()> {
        let Some(all) = self.coefficients.components.get_mut(component.index) else { return Ok(()) };
        let index = row * all.stride + column;
        let (Some(block), Some(nonzero)) = (all.blocks.get_mut(index), all.nonzero.get_mut(index)) else {
            return Ok(());
        };
        let Self { scan, state, tables, .. } = self;
        let no_table = || corrupt("a scan's table is missing");
        if !self.frame.progressive {
            let (dc, ac) = (
                tables.dc(component).ok_or_else(no_table)?,
                tables.ac_pairs(component).ok_or_else(no_table)?,
            );
            let mut whole = Block::new();
            let last = read_block(bits, dc, ac, &mut state.predicted[at & 3], &mut whole)?;
            *nonzero = u64::from(last > 0) << last;
            *block = *whole.coefficients();
        } else if scan.first == 0 && scan.high == 0 {
            let dc = tables.dc(component).ok_or_else(no_table)?;
            block[0] = read_dc(bits, dc, scan.low, &mut state.predicted[at & 3])?;
        } else if scan.first == 0 {
            if bits.flag() {
                block[0] |= 1 << scan.low;
            }
        } else {
            let ac = tables.ac(component).ok_or_else(no_table)?;
            if scan.high == 0 {
                read_ac(bits, ac, scan, state, block, nonzero)?;
            } else if state.empty_blocks > 0 && *nonzero == 0 {
                state.empty_blocks -= 1;
            } else {
                refine_ac(bits, ac, scan, state, block, nonzero)?;
            }
        }
        Ok(())
    }
}

impl Sink for Buffered<'_> {
    #[inline(always)]
    fn groups(&mut self, bits: &mut Bits<'_>, row: usize, from: usize, to: usize) -> Result<()> {
        let scan = self.scan;
        if let [only] = &scan.components[..] {
            let only_fills = self.frame.progressive && scan.first > 0 && scan.high == 0;
            let mut column = from;
            while column < to {
                if only_fills && self.state.empty_blocks > 0 {
                    let empty = to.abs_diff(column).min(self.state.empty_blocks as usize);
                    self.state.empty_blocks -= empty as u32;
                    column += empty;
                } else {
                    self.block(bits, 0, only, [column, row])?;
                    column += 1;
                }
            }
            return Ok(());
        }
        for group in from..to {
            for (at, component) in scan.components.iter().enumerate() {
                let Some(&Component { h, v, .. }) = self.frame.components.get(component.index) else {
                    continue;
                };
                for y in 0..v {
                    for x in 0..h {
                        self.block(bits, at, component, [group * h + x, row * v + y])?;
                    }
                }
            }
        }
        Ok(())
    }

    fn restart(&mut self) {
        self.state = State::default();
    }

    fn row_done(&mut self, _row: usize) {}
}
