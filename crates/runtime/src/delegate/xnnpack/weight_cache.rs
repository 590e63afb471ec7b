//! XNNPACK's weight cache, in memory or in a file, kept to one program at a time.
//!
//! ExecuTorch 1.5.1 finds packed weights by a hash of the bytes that they were packed from, and packs their scales with
//! them. Two programs whose weights are the same integers with other scales would be given each other's: silently wrong
//! numbers. Within one program that does not come about by chance, so that is who shares.
//!
//! It also goes on without the file if that can't be opened, and only logs so. Here that is an error.

use super::INFO;
use super::options::{PACKED_CACHE_PATH, WEIGHT_CACHE};
use crate::delegate::{DelegateOptions, Hold, OptionValue, delegate_option};
use crate::error::{Error, Result};
use crate::program::Program;
use std::collections::HashMap;
use std::fs::{self, File, TryLockError};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError, Weak};

/// The program that fills a cache, for as long as a method loaded with it lives.
struct User {
    fingerprint: [u8; 32],
    name: String,
}

/// Who uses which cache: by the file's path, or "" for the one in memory.
static USERS: Mutex<Option<HashMap<String, Weak<User>>>> = Mutex::new(None);

pub(super) fn prepare(program: &Program, options: &mut DelegateOptions) -> Result<Hold> {
    let path = match options.get(INFO.id, PACKED_CACHE_PATH) {
        Some(OptionValue::Text(path)) => Some(path.clone()),
        _ => None,
    };
    match (path, options.get(INFO.id, WEIGHT_CACHE)) {
        (Some(path), Some(OptionValue::Bool(false))) => {
            Err(refused(PACKED_CACHE_PATH, &path, format!("{WEIGHT_CACHE} is false")))
        }
        (Some(path), _) => {
            let path = file(program, &path).map_err(|reason| refused(PACKED_CACHE_PATH, &path, reason))?;
            options.set_path(&INFO, PACKED_CACHE_PATH, &path)?;
            // Without it ExecuTorch ignores the path.
            options.set(INFO.id, WEIGHT_CACHE, OptionValue::Bool(true))?;
            claim(program, &path.to_string_lossy())
                .map_err(|reason| refused(PACKED_CACHE_PATH, &path.display().to_string(), reason))
        }
        (None, Some(OptionValue::Bool(true))) => {
            claim(program, "").map_err(|reason| refused(WEIGHT_CACHE, "true", reason))
        }
        (None, Some(_)) => Ok(None),
        (None, None) => {
            // Some builds of ExecuTorch have it on.
            if delegate_option(INFO.id, WEIGHT_CACHE)? == Some(OptionValue::Bool(true)) {
                options.set(INFO.id, WEIGHT_CACHE, OptionValue::Bool(false))?;
            }
            Ok(None)
        }
    }
}

/// Makes `program` the user of a cache, unless another is.
fn claim(program: &Program, cache: &str) -> std::result::Result<Hold, String> {
    let fingerprint = program.fingerprint().map_err(|error| error.to_string())?;
    let mut users = USERS.lock().unwrap_or_else(PoisonError::into_inner);
    let users = users.get_or_insert_default();
    users.retain(|_, user| user.strong_count() > 0);
    if let Some(user) = users.get(cache).and_then(Weak::upgrade) {
        if user.fingerprint != fingerprint {
            return Err(format!(
                "the cache is in use by {}, and programs can't share one: give each a {PACKED_CACHE_PATH} of its own",
                user.name
            ));
        }
        return Ok(Some(user));
    }
    let user = Arc::new(User { fingerprint, name: program.name().to_owned() });
    users.insert(cache.to_owned(), Arc::downgrade(&user));
    Ok(Some(user))
}

/// Makes the file if there is none, and sees to it that ExecuTorch can use it. Gives its one true path.
fn file(program: &Program, path: &str) -> std::result::Result<PathBuf, String> {
    let file = File::options()
        .read(true)
        .write(true)
        .create(true)
        .truncate(false)
        .open(path)
        .map_err(|error| format!("the file can't be written: {error}"))?;
    let metadata = file.metadata().map_err(|error| error.to_string())?;
    if !metadata.is_file() {
        return Err("it is not a regular file".into());
    }
    let path = fs::canonicalize(path).map_err(|error| error.to_string())?;
    let used_here =
        USERS.lock().unwrap_or_else(PoisonError::into_inner).as_ref().is_some_and(|users| {
            users.get(&*path.to_string_lossy()).is_some_and(|user| user.strong_count() > 0)
        });
    // ExecuTorch locks it while it is in use.
    if !used_here && matches!(file.try_lock(), Err(TryLockError::WouldBlock)) {
        return Err("another process uses it".into());
    }
    require_owner(program, &path, metadata.len() == 0)?;
    Ok(path)
}

/// The file beside it says whose weights it holds, as ExecuTorch's does not.
fn require_owner(program: &Program, path: &Path, empty: bool) -> std::result::Result<(), String> {
    let fingerprint = program.fingerprint().map_err(|error| error.to_string())?;
    let fingerprint: String = fingerprint.iter().map(|byte| format!("{byte:02x}")).collect();
    let owner = path.with_added_extension("program");
    if empty {
        return fs::write(&owner, fingerprint)
            .map_err(|error| format!("{} can't be written: {error}", owner.display()));
    }
    if fs::read_to_string(&owner).is_ok_and(|found| found == fingerprint) {
        return Ok(());
    }
    Err(format!(
        "it does not hold the weights of {}: give each program a file of its own, or delete this one",
        program.name()
    ))
}

fn refused(option: &str, value: &str, reason: String) -> Error {
    Error::DelegateOptionRefused {
        delegate: INFO.id.to_owned(),
        option: option.to_owned(),
        value: value.to_owned(),
        reason,
    }
}
