//! The thread pool that kernels and XNNPACK share, one for the process.

use crate::bridge::ffi;
use crate::error::{Code, Error, Result};
use std::sync::{Mutex, MutexGuard, PoisonError};

/// More than any phone or desktop of today has cores.
pub(crate) const MAX_THREADS: usize = 256;

/// Methods loaded now. XNNPACK keeps a pointer to the pool from load on, so the pool may change only while there are none.
static LOADED_METHODS: Mutex<usize> = Mutex::new(0);

/// Threads that kernels use, the calling one included.
pub fn thread_count() -> usize {
    let _loaded = lock();
    ffi::start_log();
    ffi::thread_count()
}

/// Changes the number of threads that kernels use, for the whole process. Call it before methods are loaded.
///
/// # Errors
/// [`Error::ThreadCount`] outside 1..=256, [`Error::ThreadsInUse`] if the number would change while methods are loaded.
pub fn set_thread_count(threads: usize) -> Result<()> {
    if !(1..=MAX_THREADS).contains(&threads) {
        return Err(Error::ThreadCount { threads });
    }
    let loaded = lock();
    ffi::start_log();
    let current = ffi::thread_count();
    if current == threads {
        return Ok(());
    }
    if *loaded > 0 {
        return Err(Error::ThreadsInUse { threads, current, methods: *loaded });
    }
    if ffi::set_thread_count(threads as u32) {
        return Ok(());
    }
    Err(Error::ExecuTorch {
        action: format!("use {threads} threads"),
        code: Code::OutOfResources,
        detail: ffi::logged_errors(),
    })
}

/// Held by each loaded method: keeps the pool as it is.
#[derive(Debug)]
pub(crate) struct PoolUse(());

impl PoolUse {
    pub(crate) fn new() -> Self {
        *lock() += 1;
        Self(())
    }
}

impl Drop for PoolUse {
    fn drop(&mut self) {
        *lock() -= 1;
    }
}

fn lock() -> MutexGuard<'static, usize> {
    LOADED_METHODS.lock().unwrap_or_else(PoisonError::into_inner)
}
