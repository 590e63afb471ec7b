//! The functions that Python calls.

use std::cell::RefCell;
use std::ffi::{CStr, CString, c_char};
use std::ptr;
use std::slice;

use crate::task::{Contender, Result, Task};

thread_local! {
    static LAST_ERROR: RefCell<CString> = RefCell::default();
}

/// A contender behind a pointer.
pub struct Handle(Box<dyn Contender>);

fn remember<T>(result: Result<T>) -> Option<T> {
    result.map_err(|error| LAST_ERROR.set(CString::new(error.to_string()).unwrap_or_default())).ok()
}

/// Why the last call on this thread failed, until the next call on it.
#[unsafe(no_mangle)]
pub extern "C" fn pixel_peers_error() -> *const c_char {
    LAST_ERROR.with_borrow(|error| error.as_ptr())
}

/// Makes the contender of a task, which is JSON; null if it can't.
///
/// # Safety
/// `json` must be a C string.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn pixel_peers_new(json: *const c_char) -> *mut Handle {
    // SAFETY: as the caller promises.
    let json = unsafe { CStr::from_ptr(json) };
    let task = serde_json::from_slice::<Task>(json.to_bytes());
    let contender = remember(task.map_err(Into::into).and_then(Task::contender));
    contender.map_or(ptr::null_mut(), |contender| Box::into_raw(Box::new(Handle(contender))))
}

/// Bytes that a contender writes.
///
/// # Safety
/// `handle` must come from [`pixel_peers_new`] and not be freed.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn pixel_peers_output_bytes(handle: *const Handle) -> usize {
    // SAFETY: as the caller promises.
    unsafe { &*handle }.0.output_bytes()
}

/// Runs a contender: 0, or 1 if it failed.
///
/// # Safety
/// `handle` must come from [`pixel_peers_new`], not be freed and not be in use; the buffers must hold that many bytes.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn pixel_peers_run(
    handle: *mut Handle,
    frame: *const u8,
    frame_len: usize,
    out: *mut u8,
    out_len: usize,
) -> i32 {
    // SAFETY: as the caller promises.
    let (handle, frame, out) = unsafe {
        (&mut *handle, slice::from_raw_parts(frame, frame_len), slice::from_raw_parts_mut(out, out_len))
    };
    i32::from(remember(handle.0.run(frame, out)).is_none())
}

/// Frees a contender.
///
/// # Safety
/// `handle` must come from [`pixel_peers_new`] and not be used again.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn pixel_peers_free(handle: *mut Handle) {
    // SAFETY: as the caller promises.
    drop(unsafe { Box::from_raw(handle) });
}
