//! Snapshots in files.
//!
//! Format, all numbers little-endian: the magic `NSSNAP01`; the header's length (u32); the header: fingerprint (32 bytes),
//! length of the method's name (u32) and the name, number of arenas (u32) and the bytes of each (u64), number of parts
//! (u32) and arena (u32), offset and bytes (u64 each) of each, CRC-32 of the data (u32), CRC-32 of the header so far
//! (u32); then the data of the parts, one after the other, to the end of the file.

use super::identity::Identity;
use super::{Data, Part, Snapshot};
use crate::error::{Error, Result};
use crate::file::open_regular;
use memmap2::Mmap;
use std::fs::File;
use std::io::{self, Write};
use std::path::{Path, PathBuf};

const MAGIC: &[u8; 8] = b"NSSNAP01";
const HEADER_AT: usize = 12;

pub(super) fn save(snapshot: &Snapshot, path: &Path) -> Result<()> {
    let written = write_beside(snapshot, path);
    written.map_err(|source| Error::Write { path: path.to_owned(), source })
}

/// Writes a file beside `path` and moves it there when it is complete.
fn write_beside(snapshot: &Snapshot, path: &Path) -> io::Result<()> {
    let mut beside = path.as_os_str().to_owned();
    beside.push(format!(".{}.tmp", std::process::id()));
    let beside = PathBuf::from(beside);
    let write = || -> io::Result<()> {
        // The move would take the place of a device or pipe.
        if std::fs::symlink_metadata(path).is_ok_and(|found| !found.is_file() && !found.is_symlink()) {
            return Err(io::Error::new(io::ErrorKind::InvalidInput, "it is not a regular file"));
        }
        let mut file = File::create(&beside)?;
        write_to(snapshot, &mut file)?;
        file.sync_all()?;
        std::fs::rename(&beside, path)
    };
    write().inspect_err(|_| {
        let _ = std::fs::remove_file(&beside);
    })
}

pub(super) fn write_to(snapshot: &Snapshot, file: &mut impl Write) -> io::Result<()> {
    let header = header(snapshot);
    file.write_all(MAGIC)?;
    file.write_all(&(header.len() as u32).to_le_bytes())?;
    file.write_all(&header)?;
    file.write_all(snapshot.data())
}

fn header(snapshot: &Snapshot) -> Vec<u8> {
    let identity = &snapshot.identity;
    let mut bytes = identity.fingerprint.to_vec();
    let count = |bytes: &mut Vec<u8>, count: usize| bytes.extend((count as u32).to_le_bytes());
    count(&mut bytes, identity.method.len());
    bytes.extend(identity.method.as_bytes());
    count(&mut bytes, identity.arena_bytes.len());
    bytes.extend(identity.arena_bytes.iter().flat_map(|bytes| bytes.to_le_bytes()));
    count(&mut bytes, snapshot.parts.len());
    for part in &snapshot.parts {
        count(&mut bytes, part.arena);
        bytes.extend((part.offset as u64).to_le_bytes());
        bytes.extend((part.bytes as u64).to_le_bytes());
    }
    bytes.extend(crc32fast::hash(snapshot.data()).to_le_bytes());
    bytes.extend(crc32fast::hash(&bytes).to_le_bytes());
    bytes
}

pub(super) fn open(path: &Path, start: u64) -> Result<Snapshot> {
    let read = |source| Error::Read { path: path.to_owned(), source };
    let file = open_regular(path).map_err(read)?;
    let damaged = |reason: &str| Error::SnapshotDamaged { path: path.to_owned(), reason: reason.to_owned() };
    let short = || damaged("it is too short");
    if file.metadata().map_err(read)?.len() < HEADER_AT as u64 {
        return Err(short());
    }
    let start = usize::try_from(start).map_err(|_| short())?;
    // SAFETY: the map is only read. Whoever shortens the file while it is in use breaks the snapshot.
    let map = unsafe { Mmap::map(&file) }.map_err(read)?;
    let snapshot = map.get(start..).filter(|snapshot| snapshot.len() >= HEADER_AT).ok_or_else(short)?;
    let (identity, parts, crc, data_at) = parse(snapshot).map_err(damaged)?;
    let wanted: usize = parts.iter().map(|part| part.bytes).sum();
    if snapshot.len() - data_at != wanted {
        return Err(damaged("it is not as long as it says"));
    }
    let data_at = start + data_at;
    if crc32fast::hash(&map[data_at..]) != crc {
        return Err(damaged("its contents were changed"));
    }
    Ok(Snapshot { identity, parts, data: Data::Map(map, data_at) })
}

type Parsed = (Identity, Vec<Part>, u32, usize);

fn parse(file: &[u8]) -> std::result::Result<Parsed, &'static str> {
    if file.get(..MAGIC.len()) != Some(MAGIC) {
        return Err("it is not a snapshot");
    }
    let mut start = Reader(&file[MAGIC.len()..]);
    let length = start.count().ok_or(CUT)?;
    let header = start.0.get(..length).ok_or(CUT)?;
    let (checked, crc) = header.split_at_checked(length.wrapping_sub(4)).ok_or(CUT)?;
    if crc != crc32fast::hash(checked).to_le_bytes() {
        return Err("its header was changed");
    }
    let (identity, parts, crc) = fields(Reader(checked)).ok_or(CUT)?;
    let within = |part: &Part| {
        let end = part.offset.checked_add(part.bytes);
        let arena = identity.arena_bytes.get(part.arena);
        end.zip(arena).is_some_and(|(end, &arena)| end as u64 <= arena)
    };
    let total = parts.iter().try_fold(0usize, |sum, part| sum.checked_add(part.bytes));
    if !parts.iter().all(within) || total.is_none() {
        return Err("a part of it is not within its arena");
    }
    Ok((identity, parts, crc, HEADER_AT + length))
}

const CUT: &str = "its header is cut short";

fn fields(mut bytes: Reader<'_>) -> Option<(Identity, Vec<Part>, u32)> {
    let fingerprint = bytes.take(32)?.try_into().ok()?;
    let length = bytes.count()?;
    let method = std::str::from_utf8(bytes.take(length)?).ok()?.to_owned();
    let arenas = bytes.count()?;
    let arena_bytes = (0..arenas).map(|_| bytes.long()).collect::<Option<Vec<_>>>()?;
    let count = bytes.count()?;
    let parts = (0..count).map(|_| {
        let arena = bytes.count()?;
        let offset = usize::try_from(bytes.long()?).ok()?;
        Some(Part { arena, offset, bytes: usize::try_from(bytes.long()?).ok()? })
    });
    let parts = parts.collect::<Option<Vec<_>>>()?;
    let crc = bytes.count()? as u32;
    bytes.0.is_empty().then_some((Identity { fingerprint, method, arena_bytes }, parts, crc))
}

/// Reads from the front of a slice.
struct Reader<'b>(&'b [u8]);

impl<'b> Reader<'b> {
    fn take(&mut self, bytes: usize) -> Option<&'b [u8]> {
        let (taken, rest) = self.0.split_at_checked(bytes)?;
        self.0 = rest;
        Some(taken)
    }

    fn count(&mut self) -> Option<usize> {
        Some(u32::from_le_bytes(self.take(4)?.try_into().ok()?) as usize)
    }

    fn long(&mut self) -> Option<u64> {
        Some(u64::from_le_bytes(self.take(8)?.try_into().ok()?))
    }
}
