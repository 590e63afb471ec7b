//! The folder outside the checkout where everything fetched is kept, shared by all checkouts of a user.

use anyhow::{Context, Result};
use sha2::{Digest, Sha256};
use std::fs::{self, File};
use std::io;
use std::path::{Path, PathBuf};

/// `$NEARSIDE_CACHE`, else `$XDG_CACHE_HOME/nearside`, else `~/.cache/nearside`.
/// `crates/runtime/build/find.rs` looks in the same place.
pub(crate) struct Cache {
    root: PathBuf,
}

impl Cache {
    /// Finds the folder and makes it if need be.
    pub(crate) fn open() -> Result<Self> {
        let set = |name| std::env::var_os(name).filter(|value| !value.is_empty()).map(PathBuf::from);
        let root = set("NEARSIDE_CACHE")
            .or_else(|| Some(set("XDG_CACHE_HOME")?.join("nearside")))
            .or_else(|| Some(set("HOME")?.join(".cache/nearside")))
            .context("no cache folder: set HOME or NEARSIDE_CACHE")?;
        let root = std::path::absolute(root)?;
        fs::create_dir_all(&root)
            .with_context(|| format!("cannot make the cache folder {}", root.display()))?;
        Ok(Self { root })
    }

    /// A path in the cache.
    pub(crate) fn path(&self, relative: &str) -> PathBuf {
        self.root.join(relative)
    }

    /// Keeps other runs of set-up out until the returned file is dropped.
    pub(crate) fn lock(&self) -> Result<File> {
        let path = self.path("lock");
        let file = File::create(&path).with_context(|| format!("cannot write {}", path.display()))?;
        if file.try_lock().is_err() {
            eprintln!("==> waiting for another set-up to finish");
            file.lock()?;
        }
        Ok(file)
    }

    /// An empty folder to build something in; `publish` then moves it to its place at once, so that nothing
    /// half-made is ever found there. Those of the same name that killed runs have left are removed.
    pub(crate) fn scratch(&self, name: &str) -> Result<Scratch> {
        let prefix = format!("tmp-{name}-");
        // Nobody takes a folder for left behind between its making and its locking.
        let root = File::open(&self.root)?;
        root.lock()?;
        self.sweep(&prefix)?;
        let path = self.path(&format!("{prefix}{}", std::process::id()));
        fs::create_dir_all(&path)?;
        // Locked while this process lives, so that another run can tell.
        let lock = File::open(&path)?;
        lock.lock()?;
        Ok(Scratch { path, _lock: lock })
    }

    /// Removes folders `PREFIX` and a process id whose process is gone.
    fn sweep(&self, prefix: &str) -> Result<()> {
        for entry in fs::read_dir(&self.root)? {
            let entry = entry?;
            let id = entry.file_name().to_str().and_then(|name| name.strip_prefix(prefix)).map(str::to_owned);
            let ours = id.is_some_and(|id| !id.is_empty() && id.bytes().all(|byte| byte.is_ascii_digit()));
            if ours && File::open(entry.path()).is_ok_and(|folder| folder.try_lock().is_ok()) {
                remove(&entry.path())?;
            }
        }
        Ok(())
    }
}

/// A folder that disappears unless it is published.
pub(crate) struct Scratch {
    path: PathBuf,
    _lock: File,
}

impl Scratch {
    /// Where the folder is now.
    pub(crate) fn path(&self) -> &Path {
        &self.path
    }

    /// Moves `part` of the folder (or all of it, given "") to `target`, replacing what was there.
    pub(crate) fn publish(self, part: &str, target: &Path) -> Result<()> {
        if let Some(parent) = target.parent() {
            fs::create_dir_all(parent)?;
        }
        remove(target)?;
        let from = if part.is_empty() { self.path.clone() } else { self.path.join(part) };
        fs::rename(&from, target)
            .with_context(|| format!("cannot move {} to {}", from.display(), target.display()))
    }
}

impl Drop for Scratch {
    fn drop(&mut self) {
        // Best effort: what stays is in a folder of its own that nothing looks at.
        let _ = remove(&self.path);
    }
}

/// Removes a folder if it is there.
pub(crate) fn remove(path: &Path) -> Result<()> {
    match fs::remove_dir_all(path) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => {
            Err(error).with_context(|| format!("cannot remove {}", path.display()))
        }
        _ => Ok(()),
    }
}

/// SHA-256 in lower-case hex.
pub(crate) fn sha256(bytes: &[u8]) -> String {
    hex(&Sha256::digest(bytes))
}

/// SHA-256 of a file in lower-case hex.
pub(crate) fn sha256_file(path: &Path) -> Result<String> {
    let mut hasher = Sha256::new();
    let mut file = File::open(path).with_context(|| format!("cannot read {}", path.display()))?;
    let mut buffer = vec![0; 1 << 16];
    loop {
        let read = io::Read::read(&mut file, &mut buffer)?;
        if read == 0 {
            return Ok(hex(&hasher.finalize()));
        }
        hasher.update(&buffer[..read]);
    }
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_a_killed_run_left_goes_and_what_is_in_use_stays() {
        let root = std::env::temp_dir().join(format!("nearside-xtask-cache-{}", std::process::id()));
        let cache = Cache { root: root.clone() };
        for left in ["tmp-llama-tiny-1", "tmp-llama-1", "tmp-llama-mine", "tmp-llama-"] {
            fs::create_dir_all(root.join(left).join("half")).unwrap();
        }
        fs::create_dir_all(root.join("tmp-llama-2")).unwrap();
        let used = File::open(root.join("tmp-llama-2")).unwrap();
        used.lock().unwrap();
        let scratch = cache.scratch("llama").unwrap();
        assert!(scratch.path().is_dir());
        assert!(!root.join("tmp-llama-1").exists());
        for kept in ["tmp-llama-tiny-1", "tmp-llama-2", "tmp-llama-mine", "tmp-llama-"] {
            assert!(root.join(kept).is_dir(), "{kept}");
        }
        drop(scratch);
        remove(&root).unwrap();
    }

    #[test]
    fn the_sha256_of_abc_is_the_one_in_fips_180() {
        assert_eq!(sha256(b"abc"), "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
    }
}
