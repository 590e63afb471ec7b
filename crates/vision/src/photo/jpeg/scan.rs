//! A scan's header, and the walk over its blocks; ITU-T T.81 section B.2.3.

use super::bits::{Bits, Segment};
use super::corrupt;
use super::frame::Frame;
use super::huffman::{Definition, Kind, Table};
use super::markers::{Fields, Markers, check_end};
use super::pairs::PairTable;
use super::tables::Tables;
use crate::Result;

/// A scan's header.
pub(super) struct Scan {
    pub(super) components: Vec<ScanComponent>,
    /// First and last coefficient.
    pub(super) first: usize,
    pub(super) last: usize,
    /// Bits that earlier scans left off, if this one refines; those that this one leaves off.
    pub(super) high: u32,
    pub(super) low: u32,
}

/// A component in a scan: where it is in the frame, and its tables.
pub(super) struct ScanComponent {
    pub(super) index: usize,
    pub(super) dc: usize,
    pub(super) ac: usize,
}

impl Scan {
    pub(super) fn read(frame: &Frame, payload: &[u8]) -> Result<Self> {
        let mut fields = Fields(payload);
        let count = fields.byte()?;
        let mut components: Vec<ScanComponent> = Vec::new();
        for _ in 0..count {
            let [id, tables] = fields.array()?;
            let index = frame.components.iter().position(|component| component.id == id);
            let index = index.ok_or_else(|| corrupt("a scan names a component that does not exist"))?;
            let (dc, ac) = (usize::from(tables >> 4), usize::from(tables & 15));
            if components.iter().any(|other| other.index == index) || dc > 3 || ac > 3 {
                return Err(corrupt("a scan's header is not possible"));
            }
            components.push(ScanComponent { index, dc, ac });
        }
        let [first, last, bits] = fields.array()?;
        let (first, last) = (usize::from(first), usize::from(last));
        let (high, low) = (u32::from(bits >> 4), u32::from(bits & 15));
        let possible = if frame.progressive {
            let bands = if first == 0 { last == 0 } else { first <= last && last < 64 && count == 1 };
            bands && low <= 13 && (high == 0 || high == low + 1)
        } else {
            // Some encoders leave these zero.
            true
        };
        // T.81 B.2.3: at most ten blocks in a group.
        let blocks = |component: &ScanComponent| {
            frame.components.get(component.index).map_or(0, |component| component.h * component.v)
        };
        let fits = components.len() == 1 || components.iter().map(blocks).sum::<usize>() <= 10;
        if components.is_empty() || !possible || !fits {
            return Err(corrupt("a scan's header is not possible"));
        }
        Ok(Self { components, first, last, high, low })
    }

    /// Groups of blocks across and down: those of the frame, or single blocks if there is one component.
    pub(super) fn groups(&self, frame: &Frame) -> (usize, usize) {
        match &self.components[..] {
            [only] => {
                frame.components.get(only.index).map_or((0, 0), |only| (only.blocks_wide, only.blocks_high))
            }
            _ => (frame.mcus_wide, frame.mcus_high),
        }
    }
}

/// The Huffman tables that a scan uses.
pub(super) struct ScanTables {
    dc: [Option<Table>; 4],
    ac: [Option<Table>; 4],
    ac_pairs: [Option<PairTable>; 4],
}

impl ScanTables {
    /// Tables are made ready here, not where a file defines them: it may define more than it uses.
    pub(super) fn new(frame: &Frame, scan: &Scan, tables: &Tables) -> Result<Self> {
        let mut made =
            Self { dc: [const { None }; 4], ac: [const { None }; 4], ac_pairs: [const { None }; 4] };
        let needs_dc = !frame.progressive || scan.first == 0 && scan.high == 0;
        let needs_ac = !frame.progressive || scan.first > 0;
        for component in &scan.components {
            if needs_dc {
                made.dc[component.dc] = Some(make(&tables.dc, component.dc, Kind::Dc)?);
            }
            if needs_ac && frame.progressive {
                made.ac[component.ac] = Some(make(&tables.ac, component.ac, Kind::Symbols)?);
            } else if needs_ac {
                made.ac_pairs[component.ac] = Some(PairTable::new(make(&tables.ac, component.ac, Kind::Ac)?));
            }
        }
        Ok(made)
    }

    #[inline(always)]
    pub(super) fn dc(&self, component: &ScanComponent) -> Option<&Table> {
        self.dc[component.dc & 3].as_ref()
    }

    #[inline(always)]
    pub(super) fn ac(&self, component: &ScanComponent) -> Option<&Table> {
        self.ac[component.ac & 3].as_ref()
    }

    #[inline(always)]
    pub(super) fn ac_pairs(&self, component: &ScanComponent) -> Option<&PairTable> {
        self.ac_pairs[component.ac & 3].as_ref()
    }
}

fn make(definitions: &[Option<Definition>; 4], index: usize, kind: Kind) -> Result<Table> {
    let definition = definitions[index & 3].as_ref().ok_or_else(|| corrupt("a Huffman table is missing"))?;
    Table::new(definition, kind)
}

/// Something that takes in a scan's data.
pub(super) trait Sink {
    /// Takes in the blocks of groups `from` to `to` of row `row`.
    fn groups(&mut self, bits: &mut Bits<'_>, row: usize, from: usize, to: usize) -> Result<()>;

    /// Begins anew after a restart marker.
    fn restart(&mut self);

    /// A row of groups is done.
    fn row_done(&mut self, row: usize);
}

/// Reads all data of a scan, from one restart marker to the next.
#[inline(always)]
pub(super) fn walk(
    markers: &mut Markers<'_>,
    segment: &mut Segment,
    tables: &Tables,
    (wide, high): (usize, usize),
    sink: &mut impl Sink,
) -> Result<()> {
    let interval = if tables.restart_interval == 0 { usize::MAX } else { tables.restart_interval };
    let (mut until_restart, mut number) = (interval, 0);
    markers.entropy(segment)?;
    let mut bits = segment.bits();
    for row in 0..high {
        let mut at = 0;
        while at < wide {
            if until_restart == 0 {
                check_end(bits.remaining())?;
                sink.restart();
                markers.restart(number)?;
                markers.entropy(segment)?;
                bits = segment.bits();
                (until_restart, number) = (interval, (number + 1) & 7);
            }
            let count = until_restart.min(wide - at);
            sink.groups(&mut bits, row, at, at + count)?;
            at += count;
            until_restart -= count;
        }
        // A scan that is mostly missing need not be read to its end.
        if bits.remaining().is_none() {
            return check_end(None);
        }
        sink.row_done(row);
    }
    check_end(bits.remaining())
}
