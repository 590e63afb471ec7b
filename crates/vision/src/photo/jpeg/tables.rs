//! What the segments before and between scans define.

use image::metadata::Orientation;

use super::corrupt;
use super::huffman::Definition;
use super::idct::ZIGZAG;
use super::markers::Fields;
use super::standard_tables;
use crate::Result;

/// Tables and notes that were read so far.
pub(super) struct Tables {
    /// Divisors of the coefficients, row by row.
    pub(super) quantisation: [Option<[u16; 64]>; 4],
    pub(super) dc: [Option<Definition>; 4],
    pub(super) ac: [Option<Definition>; 4],
    /// Blocks (or groups of them) between restart markers; 0 for none.
    pub(super) restart_interval: usize,
    pub(super) is_jfif: bool,
    /// What Adobe's segment says of the colours.
    pub(super) adobe_transform: Option<u8>,
    pub(super) orientation: Option<Orientation>,
}

impl Tables {
    pub(super) fn new() -> Self {
        Self {
            quantisation: [None; 4],
            dc: standard_tables::definitions(true),
            ac: standard_tables::definitions(false),
            restart_interval: 0,
            is_jfif: false,
            adobe_transform: None,
            orientation: None,
        }
    }

    /// Takes in a segment that is no frame, scan or end.
    pub(super) fn read(&mut self, marker: u8, payload: &[u8]) -> Result<()> {
        match marker {
            0xdb => self.read_quantisation(Fields(payload)),
            0xc4 => self.read_huffman(Fields(payload)),
            0xdd => {
                self.restart_interval = Fields(payload).number()?.into();
                Ok(())
            }
            0xe0 => {
                self.is_jfif |= payload.starts_with(b"JFIF\0");
                Ok(())
            }
            0xe1 => {
                // Damaged metadata is no reason to refuse a picture that decodes.
                let exif = payload.strip_prefix(b"Exif\0").and_then(|rest| rest.get(1..));
                let orientation = exif.and_then(Orientation::from_exif_chunk);
                self.orientation = self.orientation.or(orientation);
                Ok(())
            }
            0xee => {
                if payload.starts_with(b"Adobe") {
                    self.adobe_transform = payload.get(11).copied().or(self.adobe_transform);
                }
                Ok(())
            }
            _ => Ok(()),
        }
    }

    /// T.81 section B.2.4.1.
    fn read_quantisation(&mut self, mut fields: Fields<'_>) -> Result<()> {
        while !fields.is_empty() {
            let kind = fields.byte()?;
            let mut table = [0; 64];
            for &at in &ZIGZAG {
                let step = if kind >> 4 == 0 { fields.byte()?.into() } else { fields.number()? };
                table[usize::from(at)] = step;
            }
            *slot(&mut self.quantisation, kind)? = Some(table);
        }
        Ok(())
    }

    /// T.81 section B.2.4.2.
    fn read_huffman(&mut self, mut fields: Fields<'_>) -> Result<()> {
        while !fields.is_empty() {
            let kind = fields.byte()?;
            let counts: [u8; 16] = fields.array()?;
            let total = counts.iter().map(|&count| usize::from(count)).sum();
            if total > 256 {
                return Err(corrupt("a Huffman table has too many codes"));
            }
            let definition = Definition { counts, symbols: fields.bytes(total)?.to_vec() };
            let class = if kind >> 4 == 0 { &mut self.dc } else { &mut self.ac };
            *slot(class, kind)? = Some(definition);
        }
        Ok(())
    }
}

fn slot<T>(tables: &mut [Option<T>; 4], kind: u8) -> Result<&mut Option<T>> {
    tables
        .get_mut(usize::from(kind & 15))
        .filter(|_| kind >> 4 <= 1)
        .ok_or_else(|| corrupt("a table has no such place"))
}
