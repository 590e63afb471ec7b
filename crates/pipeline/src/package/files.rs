//! The files of a package: safe paths, sizes and hashes.

use super::manifest::FileEntry;
use crate::error::{Error, Result};
use sha2::{Digest, Sha256};
use std::fs::File;
use std::io::Read;
use std::path::{Component, Path, PathBuf};
use std::sync::Arc;

/// Large enough that system calls do not count, small enough for any stack or cache.
const CHUNK: usize = 1 << 16;

/// Far more than any manifest or list of labels has.
const MAX_TEXT_BYTES: u64 = 1 << 24;

/// Opens a regular file: a pipe or device could block or never end.
fn open(path: &Path) -> std::io::Result<(File, u64)> {
    let metadata = std::fs::metadata(path)?;
    if !metadata.is_file() {
        return Err(std::io::Error::new(std::io::ErrorKind::InvalidInput, "it is not a regular file"));
    }
    Ok((File::open(path)?, metadata.len()))
}

/// Reads a small text file of the package.
pub(crate) fn read_text(path: &Path) -> Result<String> {
    let failed = |source| Error::Read { path: path.to_owned(), source: Arc::new(source) };
    let (mut file, found) = open(path).map_err(failed)?;
    if found > MAX_TEXT_BYTES {
        let reason = format!("it has {found} bytes, at most {MAX_TEXT_BYTES} are possible");
        return Err(Error::Manifest { path: path.to_owned(), reason });
    }
    let mut text = String::new();
    file.read_to_string(&mut text).map_err(failed)?;
    Ok(text)
}

/// The path of `entry` below `root`, after its size and hash have been checked.
pub(super) fn verified(root: &Path, manifest_path: &Path, entry: &FileEntry) -> Result<PathBuf> {
    let (path, file) = open_sized(root, manifest_path, entry)?;
    let failed = |source| Error::Read { path: path.clone(), source: Arc::new(source) };
    let found = sha256(file.take(entry.bytes)).map_err(failed)?;
    if !found.eq_ignore_ascii_case(&entry.sha256) {
        return Err(Error::FileHash { path, expected: entry.sha256.clone(), found });
    }
    Ok(path)
}

/// The path of `entry` below `root`, after its size has been checked.
pub(super) fn sized(root: &Path, manifest_path: &Path, entry: &FileEntry) -> Result<PathBuf> {
    Ok(open_sized(root, manifest_path, entry)?.0)
}

fn open_sized(root: &Path, manifest_path: &Path, entry: &FileEntry) -> Result<(PathBuf, File)> {
    let relative = Path::new(&entry.path);
    let safe =
        !entry.path.is_empty() && relative.components().all(|part| matches!(part, Component::Normal(_)));
    if !safe {
        return Err(Error::Manifest {
            path: manifest_path.to_owned(),
            reason: format!(
                "the path `{}` leaves the package; paths are relative and without `..`",
                entry.path
            ),
        });
    }
    let path = root.join(relative);
    let failed = |source| Error::Read { path: path.clone(), source: Arc::new(source) };
    let (file, found) = open(&path).map_err(failed)?;
    if found != entry.bytes {
        return Err(Error::FileSize { path, expected: entry.bytes, found });
    }
    Ok((path, file))
}

fn sha256(mut file: impl Read) -> std::io::Result<String> {
    let mut hasher = Sha256::new();
    let mut chunk = vec![0; CHUNK];
    loop {
        match file.read(&mut chunk)? {
            0 => return Ok(hasher.finalize().iter().map(|byte| format!("{byte:02x}")).collect()),
            read => hasher.update(&chunk[..read]),
        }
    }
}
