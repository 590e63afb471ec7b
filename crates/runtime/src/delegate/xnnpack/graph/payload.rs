//! The bytes of a payload: the header, the verified flatbuffer and the constant data that follows it.
//!
//! Layout, little-endian, as ExecuTorch's `backends/xnnpack/runtime/XNNHeader.h` describes it: bytes 4..8 are `XH00`, 8..10
//! the header's length, then the flatbuffer's offset and size (u32 each), the constant data's offset (u32) and size (u64). All offsets are from
//! the payload's first byte. Older payloads are the flatbuffer alone, with the constants inside it.

use crate::schema::xnnpack::fb_xnnpack::{XNNGraph, root_as_xnngraph_with_opts};
use flatbuffers::VerifierOptions;

const MAGIC: &[u8] = b"XH00";
/// Up to the end of the constant data's size; ExecuTorch wants as many bytes of payloads without a header too.
const HEADER_BYTES: usize = 30;
/// Root offset and identifier.
const MIN_FLATBUFFER_BYTES: usize = 8;
/// What ExecuTorch 1.5.1 accepts. All of them share one schema.
const IDENTIFIERS: [&[u8]; 2] = [b"XN00", b"XN01"];
/// Graph, node or value, its union, its quantisation, a string: with room to spare.
const MAX_DEPTH: usize = 16;
/// Some hundred thousand values: no exporter comes near, and XNNPACK's planner is quadratic.
const MAX_TABLES: usize = 1_000_000;

/// A payload whose every offset is known to be in bounds.
pub(super) struct Payload<'a> {
    pub(super) graph: XNNGraph<'a>,
    /// The constant data after the flatbuffer. `None` in the older form, which keeps constants in the flatbuffer.
    pub(super) constants: Option<&'a [u8]>,
}

impl<'a> Payload<'a> {
    /// Reads `bytes`, which may have any alignment.
    ///
    /// # Errors
    /// One sentence: what is cut short, out of bounds or not an XNNPACK payload.
    pub(super) fn read(bytes: &'a [u8]) -> Result<Self, String> {
        if bytes.len() < HEADER_BYTES {
            return Err(format!(
                "it has {} bytes, an XNNPACK payload has at least {HEADER_BYTES}",
                bytes.len()
            ));
        }
        let (flatbuffer, constants) = match &bytes[4..8] {
            MAGIC => {
                let (flatbuffer, constants) = split(bytes)?;
                (flatbuffer, Some(constants))
            }
            _ => (bytes, None),
        };
        let identifier = &flatbuffer[4..8];
        if !IDENTIFIERS.contains(&identifier) {
            return Err(format!(
                "its format is `{}`, this build reads `XN00` and `XN01`",
                identifier.escape_ascii()
            ));
        }
        let options =
            VerifierOptions { max_depth: MAX_DEPTH, max_tables: MAX_TABLES, ..VerifierOptions::default() };
        let graph = root_as_xnngraph_with_opts(&options, flatbuffer)
            .map_err(|error| format!("its flatbuffer is damaged: {}", first_line(&error.to_string())))?;
        Ok(Self { graph, constants })
    }
}

/// Flatbuffer and constant data, as the header says.
fn split(bytes: &[u8]) -> Result<(&[u8], &[u8]), String> {
    let u32_at =
        |at: usize| u32::from_le_bytes([bytes[at], bytes[at + 1], bytes[at + 2], bytes[at + 3]]) as usize;
    let (flatbuffer_at, flatbuffer_bytes, constants_at) = (u32_at(10), u32_at(14), u32_at(18));
    let constants_bytes = u32_at(22) as u64 | (u32_at(26) as u64) << 32;
    let flatbuffer = slice(bytes, flatbuffer_at, flatbuffer_bytes as u64)
        .filter(|flatbuffer| flatbuffer.len() >= MIN_FLATBUFFER_BYTES)
        .ok_or_else(|| {
            format!(
                "its header puts a flatbuffer of {flatbuffer_bytes} bytes at {flatbuffer_at}, of {} bytes",
                bytes.len()
            )
        })?;
    let constants = slice(bytes, constants_at, constants_bytes).ok_or_else(|| {
        format!(
            "its header puts {constants_bytes} bytes of constant data at {constants_at}, of {} bytes",
            bytes.len()
        )
    })?;
    if constants_at < flatbuffer_at + flatbuffer_bytes {
        return Err("its header lets the constant data begin inside the flatbuffer".into());
    }
    Ok((flatbuffer, constants))
}

fn slice(bytes: &[u8], at: usize, length: u64) -> Option<&[u8]> {
    let end = at.checked_add(usize::try_from(length).ok()?)?;
    bytes.get(at..end)
}

/// The verifier's messages go on with a trace of fields.
fn first_line(message: &str) -> &str {
    message.lines().next().unwrap_or("").trim_end_matches('.')
}

#[cfg(test)]
mod tests {
    use super::*;

    fn refusal(bytes: &[u8]) -> String {
        match Payload::read(bytes) {
            Ok(_) => panic!("was read"),
            Err(reason) => reason,
        }
    }

    fn header(flatbuffer: (u32, u32), constants: (u32, u64)) -> Vec<u8> {
        let mut bytes = vec![0; 64];
        bytes[4..8].copy_from_slice(MAGIC);
        bytes[10..14].copy_from_slice(&flatbuffer.0.to_le_bytes());
        bytes[14..18].copy_from_slice(&flatbuffer.1.to_le_bytes());
        bytes[18..22].copy_from_slice(&constants.0.to_le_bytes());
        bytes[22..30].copy_from_slice(&constants.1.to_le_bytes());
        bytes
    }

    #[test]
    fn what_a_header_points_to_must_be_there() {
        assert!(refusal(&[0; 29]).contains("29 bytes"));
        assert!(refusal(&header((32, 33), (64, 0))).contains("a flatbuffer of 33 bytes at 32"));
        assert!(refusal(&header((u32::MAX, u32::MAX), (64, 0))).contains("a flatbuffer"));
        assert!(refusal(&header((32, 4), (64, 0))).contains("a flatbuffer of 4 bytes"));
        assert!(refusal(&header((32, 16), (48, u64::MAX))).contains("constant data at 48"));
        assert!(refusal(&header((32, 16), (40, 8))).contains("inside the flatbuffer"));
    }

    #[test]
    fn other_formats_are_called_that() {
        assert!(refusal(&header((32, 16), (48, 0))).contains("its format is"));
        let mut bytes = header((32, 16), (48, 0));
        bytes[36..40].copy_from_slice(IDENTIFIERS[0]);
        bytes[32] = 255;
        assert!(refusal(&bytes).contains("damaged"));
    }
}
