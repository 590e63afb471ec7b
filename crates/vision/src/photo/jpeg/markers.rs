//! The segments of a JPEG file; ITU-T T.81 annex B.

use super::bits::Segment;
use super::corrupt;
use crate::Result;

pub(super) const START_OF_SCAN: u8 = 0xda;
pub(super) const END_OF_IMAGE: u8 = 0xd9;

/// Bytes of nothing that may stand before a marker. Some cameras pad; a photo of which more is left over is damaged.
const PADDING: usize = 16;

/// Walks from marker to marker.
pub(super) struct Markers<'a> {
    bytes: &'a [u8],
    at: usize,
}

impl<'a> Markers<'a> {
    /// After the start-of-image marker.
    pub(super) fn new(bytes: &'a [u8]) -> Self {
        Self { bytes, at: 2 }
    }

    /// The next segment: its marker and what it holds.
    pub(super) fn segment(&mut self) -> Result<(u8, &'a [u8])> {
        loop {
            match self.marker()? {
                END_OF_IMAGE => return Ok((END_OF_IMAGE, &[])),
                // Without a length, and without meaning here.
                0x01 | 0xd0..=0xd7 => {}
                0xd8 => return Err(corrupt("another picture begins inside it")),
                marker => return Ok((marker, self.payload()?)),
            }
        }
    }

    /// The next marker.
    fn marker(&mut self) -> Result<u8> {
        let rest = self.bytes.get(self.at..).unwrap_or(&[]);
        let padding = rest.iter().position(|&byte| byte == 0xff).ok_or_else(cut_short)?;
        if padding > PADDING {
            return Err(corrupt(format!("{padding} bytes before a marker belong to nothing")));
        }
        let rest = rest.get(padding..).unwrap_or(&[]);
        let fill = rest.iter().position(|&byte| byte != 0xff).ok_or_else(cut_short)?;
        self.at += padding + fill + 1;
        rest.get(fill).copied().filter(|&marker| marker != 0).ok_or_else(|| corrupt("a marker is missing"))
    }

    /// What a segment holds, whose length counts its own two bytes.
    fn payload(&mut self) -> Result<&'a [u8]> {
        let rest = self.bytes.get(self.at..).unwrap_or(&[]);
        let (&length, rest) = rest.split_first_chunk().ok_or_else(cut_short)?;
        let length = usize::from(u16::from_be_bytes(length));
        let length = length.checked_sub(2).ok_or_else(|| corrupt("a segment has an impossible length"))?;
        self.at += 2 + length;
        rest.get(..length).ok_or_else(cut_short)
    }

    /// Reads the entropy-coded data that follow a scan's header or a restart marker.
    pub(super) fn entropy(&mut self, segment: &mut Segment) -> Result<()> {
        let length = segment.fill(self.bytes.get(self.at..).unwrap_or(&[])).ok_or_else(cut_short)?;
        self.at += length;
        Ok(())
    }

    /// Goes past restart marker `number`, 0 to 7.
    pub(super) fn restart(&mut self, number: u8) -> Result<()> {
        if self.marker()? != 0xd0 + number {
            return Err(corrupt("a restart marker is missing"));
        }
        Ok(())
    }
}

/// What was left of a segment once its last block was read must be no more than padding.
pub(super) fn check_end(remaining_bits: Option<usize>) -> Result<()> {
    match remaining_bits {
        None => Err(corrupt("data of its blocks are missing")),
        Some(bits) if bits / 8 > PADDING => {
            Err(corrupt(format!("{} bytes of a scan belong to no block", bits / 8)))
        }
        Some(_) => Ok(()),
    }
}

fn cut_short() -> crate::Error {
    corrupt("it ends before its end-of-image marker")
}

/// Takes bytes and numbers from the front of a segment.
pub(super) struct Fields<'a>(pub(super) &'a [u8]);

impl<'a> Fields<'a> {
    pub(super) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    pub(super) fn array<const N: usize>(&mut self) -> Result<[u8; N]> {
        let (&array, rest) = self.0.split_first_chunk().ok_or_else(too_short)?;
        self.0 = rest;
        Ok(array)
    }

    pub(super) fn bytes(&mut self, count: usize) -> Result<&'a [u8]> {
        let (bytes, rest) = self.0.split_at_checked(count).ok_or_else(too_short)?;
        self.0 = rest;
        Ok(bytes)
    }

    pub(super) fn byte(&mut self) -> Result<u8> {
        self.array().map(|[byte]| byte)
    }

    pub(super) fn number(&mut self) -> Result<u16> {
        self.array().map(u16::from_be_bytes)
    }
}

fn too_short() -> crate::Error {
    corrupt("a segment is too short")
}
