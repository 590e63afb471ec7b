//! Snapshots: the memory of a method, saved and put back. A KV cache that was computed once, for one.

mod file;
mod identity;

pub(crate) use identity::fingerprint;

use crate::error::{Error, Result};
use crate::memory::Arena;
use identity::Identity;
use memmap2::Mmap;
use std::fmt;
use std::io::{self, Write};
use std::path::Path;

/// What a method's memory held at a moment. It fits the method of the program that it was taken from, in this process or
/// another, and no other.
pub struct Snapshot {
    identity: Identity,
    parts: Vec<Part>,
    data: Data,
}

/// A range of an arena.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Part {
    pub(crate) arena: usize,
    pub(crate) offset: usize,
    pub(crate) bytes: usize,
}

enum Data {
    Memory(Vec<u8>),
    /// From here on to the end.
    Map(Mmap, usize),
}

impl Snapshot {
    /// Copies `parts` of `arenas`.
    pub(crate) fn take(identity: Identity, parts: Vec<Part>, arenas: &[Arena]) -> Result<Self> {
        let mut data = Vec::new();
        let bytes = parts.iter().map(|part| part.bytes).sum();
        if data.try_reserve_exact(bytes).is_err() {
            return Err(Error::OutOfMemory { method: identity.method, bytes: bytes as u64 });
        }
        for part in &parts {
            data.extend_from_slice(&arenas[part.arena].as_slice()[part.offset..part.offset + part.bytes]);
        }
        Ok(Self { identity, parts, data: Data::Memory(data) })
    }

    pub(crate) fn must_fit(&self, identity: &Identity) -> Result<()> {
        self.identity.must_equal(identity)
    }

    /// Puts the parts back into `arenas`, which belong to `identity`.
    pub(crate) fn put_back(&self, identity: &Identity, arenas: &mut [Arena]) -> Result<()> {
        self.must_fit(identity)?;
        // The arenas' sizes are part of the identity, and the parts were checked against them.
        let mut data = self.data();
        for part in &self.parts {
            let (bytes, rest) = data.split_at(part.bytes);
            arenas[part.arena].as_mut_slice()[part.offset..part.offset + part.bytes].copy_from_slice(bytes);
            data = rest;
        }
        Ok(())
    }

    /// Bytes that it holds.
    pub fn bytes(&self) -> usize {
        self.parts.iter().map(|part| part.bytes).sum()
    }

    /// The method that it belongs to.
    pub fn method(&self) -> &str {
        &self.identity.method
    }

    /// Writes it to `path`. The file is complete or, after an error, as it was.
    ///
    /// # Errors
    /// [`Error::Write`].
    pub fn save(&self, path: impl AsRef<Path>) -> Result<()> {
        file::save(self, path.as_ref())
    }

    /// Maps the snapshot in the file at `path`: its pages are read when it is restored.
    ///
    /// # Errors
    /// [`Error::Read`], or [`Error::SnapshotDamaged`] if it is not a snapshot or was changed since it was written.
    pub fn open(path: impl AsRef<Path>) -> Result<Self> {
        file::open(path.as_ref(), 0)
    }

    /// As [`Snapshot::open`], of a snapshot that [`Snapshot::write_to`] put behind other things: from byte `start` on to the
    /// end of the file.
    ///
    /// # Errors
    /// Those of [`Snapshot::open`].
    pub fn open_at(path: impl AsRef<Path>, start: u64) -> Result<Self> {
        file::open(path.as_ref(), start)
    }

    /// Writes what [`Snapshot::save`] writes, to put it into a file with other things.
    ///
    /// # Errors
    /// Those of the writer.
    pub fn write_to(&self, writer: &mut impl Write) -> io::Result<()> {
        file::write_to(self, writer)
    }

    fn data(&self) -> &[u8] {
        match &self.data {
            Data::Memory(bytes) => bytes,
            Data::Map(map, start) => &map[*start..],
        }
    }
}

impl fmt::Debug for Snapshot {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Snapshot")
            .field("method", &self.identity.method)
            .field("bytes", &self.bytes())
            .finish()
    }
}

/// All of `arenas`.
pub(crate) fn whole(arenas: &[Arena]) -> Vec<Part> {
    let part = |(arena, memory): (usize, &Arena)| Part { arena, offset: 0, bytes: memory.as_slice().len() };
    arenas.iter().enumerate().map(part).collect()
}

/// Sorts `parts` and joins those that touch or overlap.
pub(crate) fn joined(mut parts: Vec<Part>) -> Vec<Part> {
    parts.sort_by_key(|part| (part.arena, part.offset));
    let mut joined: Vec<Part> = Vec::with_capacity(parts.len());
    for part in parts {
        match joined.last_mut() {
            Some(last) if last.arena == part.arena && part.offset <= last.offset + last.bytes => {
                last.bytes = last.bytes.max(part.offset + part.bytes - last.offset);
            }
            _ => joined.push(part),
        }
    }
    joined
}

pub(crate) fn identity(fingerprint: [u8; 32], method: &str, arenas: &[Arena]) -> Identity {
    let arena_bytes = arenas.iter().map(|arena| arena.as_slice().len() as u64).collect();
    Identity { fingerprint, method: method.to_owned(), arena_bytes }
}

fn mismatch(reason: String) -> Error {
    Error::SnapshotMismatch { reason }
}
