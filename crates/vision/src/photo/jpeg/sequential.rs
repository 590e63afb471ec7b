//! Scans whose blocks become samples as they are read.

use super::baseline::read_block;
use super::bits::Bits;
use super::frame::Frame;
use super::pairs::Block;
use super::picture::Picture;
use super::processor::Processor;
use super::scan::{Scan, ScanTables, Sink};
use crate::Result;

/// A scan of all components.
pub(super) struct Sequential<'a, P> {
    pub(super) processor: P,
    pub(super) frame: &'a Frame,
    pub(super) scan: &'a Scan,
    pub(super) tables: &'a ScanTables,
    pub(super) predicted: [i32; 4],
    pub(super) picture: &'a mut Picture,
}

impl<P: Processor> Sink for Sequential<'_, P> {
    #[inline(always)]
    fn groups(&mut self, bits: &mut Bits<'_>, _row: usize, from: usize, to: usize) -> Result<()> {
        let mut block = Block::new();
        for group in from..to {
            for (at, component) in self.scan.components.iter().enumerate() {
                let (Some(shape), Some(dc), Some(ac), Some(predicted)) = (
                    self.frame.components.get(component.index),
                    self.tables.dc(component),
                    self.tables.ac_pairs(component),
                    self.predicted.get_mut(at),
                ) else {
                    continue;
                };
                for y in 0..shape.v {
                    for x in 0..shape.h {
                        *block.coefficients() = [0; 64];
                        let last = read_block(bits, dc, ac, predicted, &mut block)?;
                        let place = [group * shape.h + x, y];
                        self.picture.block(
                            self.processor,
                            component.index,
                            place,
                            block.coefficients(),
                            last,
                        );
                    }
                }
            }
        }
        Ok(())
    }

    fn restart(&mut self) {
        self.predicted = [0; 4];
    }

    #[inline(always)]
    fn row_done(&mut self, row: usize) {
        self.picture.group_row_done(self.processor, row);
    }
}
