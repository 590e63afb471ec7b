//! Planned arenas: the memory that a method's plan lays tensors out in.

use crate::bridge::ffi;
use std::alloc::{Layout, alloc_zeroed, dealloc};
use std::ptr::NonNull;

/// A cache line, and the alignment that vector kernels like; ExecuTorch's plan asks for 16.
const ALIGN: usize = 64;

/// XNNPACK's kernels read, but never use, up to so many bytes past the end of a tensor (`XNN_EXTRA_BYTES`).
const SLACK: usize = 128;

/// One planned arena: zeroed, aligned, of fixed size, freed on drop.
#[derive(Debug)]
pub(crate) struct Arena {
    data: NonNull<u8>,
    bytes: usize,
    layout: Option<Layout>,
}

impl Arena {
    /// `None` if the memory can't be had.
    pub(crate) fn new(bytes: usize) -> Option<Self> {
        if bytes == 0 {
            return Some(Self { data: NonNull::dangling(), bytes, layout: None });
        }
        let layout = Layout::from_size_align(bytes.checked_add(SLACK)?, ALIGN).ok()?;
        // SAFETY: the size is not zero.
        let data = NonNull::new(unsafe { alloc_zeroed(layout) })?;
        Some(Self { data, bytes, layout: Some(layout) })
    }

    pub(crate) fn as_slice(&self) -> &[u8] {
        // SAFETY: the memory was allocated zeroed with these bytes and is written by no one while it is borrowed.
        unsafe { std::slice::from_raw_parts(self.data.as_ptr(), self.bytes) }
    }

    pub(crate) fn as_mut_slice(&mut self) -> &mut [u8] {
        // SAFETY: as above, and the arena is borrowed alone.
        unsafe { std::slice::from_raw_parts_mut(self.data.as_ptr(), self.bytes) }
    }

    pub(crate) fn span(&self) -> ffi::ArenaSpan {
        ffi::ArenaSpan { data: self.data.as_ptr(), bytes: self.bytes }
    }
}

impl Drop for Arena {
    fn drop(&mut self) {
        if let Some(layout) = self.layout {
            // SAFETY: allocated in `new` with this layout.
            unsafe { dealloc(self.data.as_ptr(), layout) }
        }
    }
}

// SAFETY: an arena is plain memory with one owner.
unsafe impl Send for Arena {}
