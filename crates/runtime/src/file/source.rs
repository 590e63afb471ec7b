//! Where a file's bytes are: mapped, in memory, or still on disk.

use super::map::{Map, SLACK};
use std::borrow::Cow;
use std::fs::File;
use std::io::{self, Read};
use std::ops::Range;
use std::os::unix::fs::FileExt;
use std::path::Path;

/// Opens a regular file: a pipe or device could block or never end.
pub(crate) fn open_regular(path: &Path) -> io::Result<File> {
    if !std::fs::metadata(path)?.is_file() {
        return Err(io::Error::new(io::ErrorKind::InvalidInput, "it is not a regular file"));
    }
    File::open(path)
}

/// The bytes of an opened file.
#[derive(Debug)]
pub(crate) enum Source {
    /// Mapped: pages come in when they are touched.
    Map(Map),
    /// In memory as a whole, with room for [`SLACK`] bytes after it.
    Bytes(Vec<u8>),
    /// On disk: read piece by piece.
    File { file: File, bytes: u64 },
}

impl Source {
    pub(crate) fn map(file: &File) -> io::Result<Self> {
        let bytes = usize::try_from(file.metadata()?.len()).map_err(io::Error::other)?;
        if bytes == 0 {
            return Ok(Self::bytes(Vec::new()));
        }
        Ok(Self::Map(Map::new(file, bytes)?))
    }

    pub(crate) fn bytes(mut bytes: Vec<u8>) -> Self {
        bytes.reserve_exact(SLACK);
        Self::Bytes(bytes)
    }

    /// Reads all of a file.
    pub(crate) fn whole(mut file: File) -> io::Result<Self> {
        let bytes = usize::try_from(file.metadata()?.len()).map_err(io::Error::other)?;
        let mut whole = Vec::new();
        whole.try_reserve_exact(bytes.saturating_add(SLACK))?;
        file.read_to_end(&mut whole)?;
        Ok(Self::bytes(whole))
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
