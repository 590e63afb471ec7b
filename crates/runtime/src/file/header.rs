//! The first bytes of a file, which say what it is and where its parts are.
//!
//! All numbers are little-endian. Sources: ExecuTorch 1.5.1's `runtime/executor/program.h` with
//! `schema/extended_header.h` for `.pte`, and `extension/flat_tensor/serialize/flat_tensor_header.h` for `.ptd`.
//!
//! - `.pte`: bytes 4..8 are the flatbuffer identifier `ET12`. Where segments follow, bytes 8..12 are `eh00`, then the
//!   header's length (u32), the size of the flatbuffer (u64), the offset of the first segment (u64, 0 without any) and,
//!   if the header is long enough, the size of all segments (u64).
//! - `.ptd`: bytes 4..8 are `FT01`, bytes 8..12 are `FH01`, then the header's length (u32), the flatbuffer's offset and
//!   size, the offset of the first segment and the size of all segments (u64 each).

use crate::error::{Error, Result};
use std::ops::Range;

/// Bytes to read for a check.
pub(crate) const HEAD_BYTES: usize = 64;

const EXTENDED_AT: usize = 8;

/// Where a file's parts are.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Layout {
    /// The flatbuffer, from the start of the file.
    pub(crate) description: Range<u64>,
    /// The offset that segments are counted from. `None` without an extended header.
    pub(crate) segments_at: Option<u64>,
}

/// Checks that `head`, the first bytes of a file of `file_bytes`, begins a program and that the file is as long as it says.
pub(crate) fn check(name: &str, head: &[u8], file_bytes: u64) -> Result<Layout> {
    let not = |reason: String| Error::NotAProgram { name: name.to_owned(), reason };
    identify(head, file_bytes, "ET", "ET12").map_err(not)?;
    if head.get(EXTENDED_AT..EXTENDED_AT + 4) != Some(b"eh00") {
        return Ok(Layout { description: 0..file_bytes, segments_at: None });
    }
    let [length] = numbers(head, EXTENDED_AT + 4, 4).ok_or_else(|| not("its header is cut short".into()))?;
    // Magic, length, program size and segment offset; then the size of all segments.
    if length < 24 {
        return Err(not(format!("its extended header claims {length} bytes, at least 24 are needed")));
    }
    let [program, segments_at] =
        numbers(head, EXTENDED_AT + 8, 8).ok_or_else(|| not("its header is cut short".into()))?;
    let segments = match numbers(head, EXTENDED_AT + 24, 8) {
        Some([segments]) if length >= 32 => segments,
        _ => 0,
    };
    let end =
        segments_at.checked_add(segments).ok_or_else(|| not("the sizes in its header overflow".into()))?;
    long_enough(name, end.max(program), file_bytes)?;
    Ok(Layout { description: 0..program, segments_at: Some(segments_at) })
}

/// As [`check`], for the bytes of a `.ptd` file.
pub(crate) fn check_data(name: &str, bytes: &[u8]) -> Result<Layout> {
    let file_bytes = bytes.len() as u64;
    let not = |reason: String| Error::NotDataFile { name: name.to_owned(), reason };
    identify(bytes, file_bytes, "FT", "FT01").map_err(not)?;
    if bytes.get(EXTENDED_AT..EXTENDED_AT + 4) != Some(b"FH01") {
        return Err(not("it has no header".into()));
    }
    let [length] = numbers(bytes, EXTENDED_AT + 4, 4).ok_or_else(|| not("its header is cut short".into()))?;
    if length < 40 {
        return Err(not(format!("its header claims {length} bytes, 40 are needed")));
    }
    let [offset, size, segments_at, segments] =
        numbers(bytes, EXTENDED_AT + 8, 8).ok_or_else(|| not("its header is cut short".into()))?;
    let overflow = || not("the sizes in its header overflow".into());
    let description = offset.checked_add(size).ok_or_else(overflow)?;
    let end = segments_at.checked_add(segments).ok_or_else(overflow)?;
    long_enough(name, end.max(description), file_bytes)?;
    Ok(Layout { description: 0..description, segments_at: Some(segments_at) })
}

fn identify(head: &[u8], file_bytes: u64, kind: &str, identifier: &str) -> std::result::Result<(), String> {
    if file_bytes == 0 {
        return Err("it is empty".into());
    }
    let found = head.get(4..8).ok_or_else(|| format!("it has only {file_bytes} bytes"))?;
    if found == identifier.as_bytes() {
        return Ok(());
    }
    let shown = found.escape_ascii();
    Err(if found.starts_with(kind.as_bytes()) {
        format!("its format is `{shown}`, this build reads `{identifier}`")
    } else {
        format!("bytes 4 to 7 are `{shown}`, not `{identifier}`")
    })
}

fn long_enough(name: &str, needed: u64, found: u64) -> Result<()> {
    if needed <= found {
        return Ok(());
    }
    Err(Error::Truncated { name: name.to_owned(), needed, found })
}

/// Numbers of `length` bytes each, from `at`. `None` past the end.
fn numbers<const N: usize>(bytes: &[u8], at: usize, length: usize) -> Option<[u64; N]> {
    let bytes = bytes.get(at..at + N * length)?;
    let number = |bytes: &[u8]| bytes.iter().rev().fold(0, |value, &byte| value << 8 | u64::from(byte));
    Some(std::array::from_fn(|i| number(&bytes[i * length..(i + 1) * length])))
}
