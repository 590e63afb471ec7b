//! The first bytes of a `.pte`, checked before any C++ sees the file.
//!
//! Layout, all little-endian, as ExecuTorch's `runtime/executor` and `exir/_serialize/_program.py` write it: bytes 4..8 are the
//! flatbuffer identifier `ET12`; where segments follow, bytes 8..12 are `eh00`, then the header's length (u32), the
//! size of the flatbuffer (u64), the offset of the first segment (u64, 0 without any) and, if the header is long
//! enough, the size of all segments (u64).

use crate::error::{Error, Result};

/// Bytes to read for [`check`].
pub(crate) const HEAD_BYTES: usize = 64;

const IDENTIFIER_PREFIX: &[u8] = b"ET";
const IDENTIFIER: &[u8] = b"ET12";
const EXTENDED_MAGIC: &[u8] = b"eh00";
const EXTENDED_AT: usize = 8;
/// Identifier, length, program size and segment offset.
const EXTENDED_MIN_BYTES: u32 = 24;
const EXTENDED_WITH_SEGMENT_SIZE_BYTES: u32 = 32;

/// Checks that `head`, the first bytes of a file of `file_bytes`, begins a program and that the file is as long as it says.
pub(crate) fn check(name: &str, head: &[u8], file_bytes: u64) -> Result<()> {
    let not = |reason: String| Error::NotAProgram { name: name.to_owned(), reason };
    if file_bytes == 0 {
        return Err(not("it is empty".into()));
    }
    let identifier = head.get(4..8).ok_or_else(|| not(format!("it has only {file_bytes} bytes")))?;
    if identifier != IDENTIFIER {
        let found = identifier.escape_ascii();
        return Err(not(if identifier.starts_with(IDENTIFIER_PREFIX) {
            format!("its format is `{found}`, this build reads `ET12`")
        } else {
            format!("bytes 4 to 7 are `{found}`, not `ET12`")
        }));
    }
    let needed = match extended(head) {
        None => u64_at(head, 0, 4),
        Some(Err(length)) => {
            return Err(not(format!(
                "its extended header claims {length} bytes, at least {EXTENDED_MIN_BYTES} are needed"
            )));
        }
        Some(Ok(header)) => header.end(),
    };
    match needed {
        Some(needed) if needed <= file_bytes => Ok(()),
        Some(needed) => Err(Error::Truncated { name: name.to_owned(), needed, found: file_bytes }),
        None => Err(not("the sizes in its header overflow".into())),
    }
}

struct Extended {
    program_bytes: u64,
    segments_at: u64,
    segments_bytes: u64,
}

impl Extended {
    /// The length that the file must have. `None` if the sizes overflow.
    fn end(&self) -> Option<u64> {
        self.segments_at.checked_add(self.segments_bytes).map(|end| end.max(self.program_bytes))
    }
}

/// `None` without an extended header, its length as the error if that is impossible.
fn extended(head: &[u8]) -> Option<std::result::Result<Extended, u32>> {
    if head.get(EXTENDED_AT..EXTENDED_AT + 4)? != EXTENDED_MAGIC {
        return None;
    }
    let length = u32::try_from(u64_at(head, EXTENDED_AT + 4, 4)?).ok()?;
    if length < EXTENDED_MIN_BYTES {
        return Some(Err(length));
    }
    let has_segment_size = length >= EXTENDED_WITH_SEGMENT_SIZE_BYTES;
    Some(Ok(Extended {
        program_bytes: u64_at(head, EXTENDED_AT + 8, 8)?,
        segments_at: u64_at(head, EXTENDED_AT + 16, 8)?,
        segments_bytes: if has_segment_size { u64_at(head, EXTENDED_AT + 24, 8)? } else { 0 },
    }))
}

/// A little-endian number of up to 8 bytes. `None` past the end.
fn u64_at(bytes: &[u8], at: usize, length: usize) -> Option<u64> {
    let bytes = bytes.get(at..at + length)?;
    Some(bytes.iter().rev().fold(0, |value, &byte| value << 8 | u64::from(byte)))
}
