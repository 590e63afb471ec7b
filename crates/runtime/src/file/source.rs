//! Where a file's bytes are: mapped, in memory, or still on disk.

use memmap2::Mmap;
use std::borrow::Cow;
use std::fs::File;
use std::io;
use std::ops::Range;
use std::os::unix::fs::FileExt;

/// The bytes of an opened file.
#[derive(Debug)]
pub(crate) enum Source {
    /// Mapped: pages come in when they are touched.
    Map(Mmap),
    /// In memory as a whole.
    Bytes(Box<[u8]>),
    /// On disk: read piece by piece.
    File { file: File, bytes: u64 },
}

impl Source {
    pub(crate) fn map(file: &File) -> io::Result<Self> {
        if file.metadata()?.len() == 0 {
            return Ok(Self::Bytes(Box::default()));
        }
        // SAFETY: the map is only read. Whoever shortens a file while it is in use breaks every program that maps it.
        let map = unsafe { Mmap::map(file) }?;
        // A huge page would keep what was dropped beside what is kept. A kernel without huge pages refuses, rightly.
        #[cfg(any(target_os = "linux", target_os = "android"))]
        let _ = map.advise(memmap2::Advice::NoHugePage);
        Ok(Self::Map(map))
    }

    pub(crate) fn file(file: File) -> io::Result<Self> {
        let bytes = file.metadata()?.len();
        Ok(Self::File { file, bytes })
    }

    pub(crate) fn len(&self) -> u64 {
        match self {
            Self::Map(map) => map.len() as u64,
            Self::Bytes(bytes) => bytes.len() as u64,
            Self::File { bytes, .. } => *bytes,
        }
    }

    /// All bytes, unless they are on disk.
    pub(crate) fn in_memory(&self) -> Option<&[u8]> {
        match self {
            Self::Map(map) => Some(map),
            Self::Bytes(bytes) => Some(bytes),
            Self::File { .. } => None,
        }
    }

    /// The bytes of `range`, which must lie within the file.
    pub(crate) fn read(&self, range: Range<u64>) -> io::Result<Cow<'_, [u8]>> {
        let past_the_end =
            || io::Error::new(io::ErrorKind::UnexpectedEof, "a range past the end of the file");
        if range.start > range.end || range.end > self.len() {
            return Err(past_the_end());
        }
        let (Ok(start), Ok(end)) = (usize::try_from(range.start), usize::try_from(range.end)) else {
            return Err(past_the_end());
        };
        match self {
            Self::File { file, .. } => {
                let mut bytes = vec![0; end - start];
                file.read_exact_at(&mut bytes, range.start)?;
                Ok(Cow::Owned(bytes))
            }
            Self::Map(map) => Ok(Cow::Borrowed(&map[start..end])),
            Self::Bytes(bytes) => Ok(Cow::Borrowed(&bytes[start..end])),
        }
    }
}
