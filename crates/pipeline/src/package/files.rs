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

pub(super) fn read(path: &Path) -> Result<Vec<u8>> {
    std::fs::read(path).map_err(|source| Error::Read { path: path.to_owned(), source: Arc::new(source) })
}

/// The path of `entry` below `root`, after its size and hash have been checked.
pub(super) fn verified(root: &Path, manifest_path: &Path, entry: &FileEntry) -> Result<PathBuf> {
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
    let mut file = File::open(&path).map_err(failed)?;
    let found = file.metadata().map_err(failed)?.len();
    if found != entry.bytes {
        return Err(Error::FileSize { path, expected: entry.bytes, found });
    }
    let found = sha256(&mut file).map_err(failed)?;
    if !found.eq_ignore_ascii_case(&entry.sha256) {
        return Err(Error::FileHash { path, expected: entry.sha256.clone(), found });
    }
    Ok(path)
}

fn sha256(file: &mut File) -> std::io::Result<String> {
    let mut hasher = Sha256::new();
    let mut chunk = vec![0; CHUNK];
    loop {
        match file.read(&mut chunk)? {
            0 => return Ok(hasher.finalize().iter().map(|byte| format!("{byte:02x}")).collect()),
            read => hasher.update(&chunk[..read]),
        }
    }
}
