//! Constant data: where it is, how many bytes there are, and those bytes that must be looked at.

use super::NamedData;
use super::payload::Payload;
use std::borrow::Cow;

/// What an offset is where the data is under a name.
const NO_OFFSET: u64 = u64::MAX;

/// The table of a payload's constants, and the program's named data that it may point to.
pub(super) struct Constants<'a> {
    payload: &'a Payload<'a>,
    named: &'a dyn NamedData,
}

/// A constant that is present.
#[derive(Debug, Clone, Copy)]
pub(super) enum Constant<'a> {
    Here(&'a [u8]),
    Named { key: &'a str, bytes: u64 },
}

impl Constant<'_> {
    pub(super) fn bytes(self) -> u64 {
        match self {
            Self::Here(data) => data.len() as u64,
            Self::Named { bytes, .. } => bytes,
        }
    }
}

impl<'a> Constants<'a> {
    pub(super) fn new(payload: &'a Payload<'a>, named: &'a dyn NamedData) -> Self {
        Self { payload, named }
    }

    /// Constant `index`; XNNPACK reads it as elements of `element_bytes`.
    ///
    /// # Errors
    /// One clause: the index or the bytes are out of bounds.
    pub(super) fn find(&self, index: u32, element_bytes: u64) -> Result<Constant<'a>, String> {
        match self.payload.constants {
            Some(data) => self.listed(index, data, element_bytes),
            None => self.inline(index).map(Constant::Here),
        }
    }

    /// The first `bytes` of a constant. `None` if its data was not given, so that it can't be used either.
    pub(super) fn read(&self, constant: Constant<'a>, bytes: u64) -> Option<Cow<'a, [u8]>> {
        match constant {
            Constant::Here(data) => Some(Cow::Borrowed(&data[..data.len().min(bytes as usize)])),
            Constant::Named { key, .. } => self.named.read(key, bytes).map(Cow::Owned),
        }
    }

    fn listed(&self, index: u32, data: &'a [u8], element_bytes: u64) -> Result<Constant<'a>, String> {
        let table = self.payload.graph.constant_data();
        let entry = table
            .filter(|table| (index as usize) < table.len())
            .map(|table| table.get(index as usize))
            .ok_or_else(|| format!("uses constant {index}, of {}", table.map_or(0, |table| table.len())))?;
        let (offset, size) = (entry.offset(), entry.size_());
        let Some(key) = entry.named_key() else {
            let end = offset.checked_add(size).filter(|&end| end <= data.len() as u64);
            let Some(end) = end else {
                return Err(format!(
                    "uses constant {index} of {size} bytes at {offset}, of {} bytes",
                    data.len()
                ));
            };
            if !offset.is_multiple_of(element_bytes) {
                return Err(format!("uses constant {index} at {offset}, which is not aligned"));
            }
            return Ok(Constant::Here(&data[offset as usize..end as usize]));
        };
        // ExecuTorch looks the key up as a C string.
        if key.contains('\0') {
            return Err(format!("uses constant {index}, whose name {key:?} has a zero byte"));
        }
        if offset != NO_OFFSET && offset != 0 {
            return Err(format!("uses constant {index}, which has both a name and the offset {offset}"));
        }
        let bytes = self.named.bytes(key);
        if bytes < size {
            return Err(format!("uses {size} bytes of the data `{key}`, which has {bytes}"));
        }
        Ok(Constant::Named { key, bytes })
    }

    fn inline(&self, index: u32) -> Result<&'a [u8], String> {
        let table = self.payload.graph.constant_buffer();
        table
            .filter(|table| (index as usize) < table.len())
            .and_then(|table| table.get(index as usize).storage())
            .map(|storage| storage.bytes())
            .ok_or_else(|| format!("uses constant {index}, of {}", table.map_or(0, |table| table.len())))
    }
}
