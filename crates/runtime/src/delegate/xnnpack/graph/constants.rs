//! Constant data: where it is and how many bytes there are.

use super::payload::Payload;

/// What an offset is where the data is under a name.
const NO_OFFSET: u64 = u64::MAX;

/// The table of a payload's constants, and the program's named data that it may point to.
pub(super) struct Constants<'a> {
    payload: &'a Payload<'a>,
    named: &'a dyn Fn(&str) -> Option<u64>,
}

impl<'a> Constants<'a> {
    pub(super) fn new(payload: &'a Payload<'a>, named: &'a dyn Fn(&str) -> Option<u64>) -> Self {
        Self { payload, named }
    }

    /// Bytes of constant `index`, checked to be present; XNNPACK reads them as elements of `element_bytes`.
    ///
    /// # Errors
    /// One clause: the index or the bytes are out of bounds, or the name is of no data.
    pub(super) fn bytes(&self, index: u32, element_bytes: u64) -> Result<u64, String> {
        match self.payload.constants {
            Some(data) => self.listed(index, data.len() as u64, element_bytes),
            None => self.inline(index),
        }
    }

    fn listed(&self, index: u32, available: u64, element_bytes: u64) -> Result<u64, String> {
        let table = self.payload.graph.constant_data();
        let entry = table
            .filter(|table| (index as usize) < table.len())
            .map(|table| table.get(index as usize))
            .ok_or_else(|| format!("uses constant {index}, of {}", table.map_or(0, |table| table.len())))?;
        let (offset, size) = (entry.offset(), entry.size_());
        let Some(key) = entry.named_key() else {
            let end = offset.checked_add(size).filter(|&end| end <= available);
            if end.is_none() {
                return Err(format!(
                    "uses constant {index} of {size} bytes at {offset}, of {available} bytes"
                ));
            }
            if !offset.is_multiple_of(element_bytes) {
                return Err(format!("uses constant {index} at {offset}, which is not aligned"));
            }
            return Ok(size);
        };
        // ExecuTorch looks the key up as a C string.
        if key.contains('\0') {
            return Err(format!("uses constant {index}, whose name {key:?} has a zero byte"));
        }
        if offset != NO_OFFSET && offset != 0 {
            return Err(format!("uses constant {index}, which has both a name and the offset {offset}"));
        }
        let found = (self.named)(key)
            .ok_or_else(|| format!("uses the data `{key}`, which is neither in the program nor beside it"))?;
        if found < size {
            return Err(format!("uses {size} bytes of the data `{key}`, which has {found}"));
        }
        Ok(found)
    }

    fn inline(&self, index: u32) -> Result<u64, String> {
        let table = self.payload.graph.constant_buffer();
        table
            .filter(|table| (index as usize) < table.len())
            .and_then(|table| table.get(index as usize).storage())
            .map(|storage| storage.len() as u64)
            .ok_or_else(|| format!("uses constant {index}, of {}", table.map_or(0, |table| table.len())))
    }
}
