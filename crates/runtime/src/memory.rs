//! Planned arenas: the memory that a method's plan lays tensors out in.

use std::alloc::{Layout, alloc_zeroed, dealloc};
use std::ptr::NonNull;

/// A cache line, and the alignment that vector kernels like; ExecuTorch's plan asks for 16.
const ALIGN: usize = 64;

/// One planned arena: zeroed, aligned, of fixed size, freed on drop.
#[derive(Debug)]
pub(crate) struct Arena {
    data: NonNull<u8>,
    layout: Option<Layout>,
}

impl Arena {
    /// `None` if the memory can't be had.
    pub(crate) fn new(bytes: usize) -> Option<Self> {
        if bytes == 0 {
            return Some(Self { data: NonNull::dangling(), layout: None });
        }
        let layout = Layout::from_size_align(bytes, ALIGN).ok()?;
        // SAFETY: the size is not zero.
        let data = NonNull::new(unsafe { alloc_zeroed(layout) })?;
        Some(Self { data, layout: Some(layout) })
    }

    pub(crate) fn as_ptr(&self) -> *mut u8 {
        self.data.as_ptr()
    }

    pub(crate) fn bytes(&self) -> usize {
        self.layout.map_or(0, |layout| layout.size())
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
