//! Planned arenas: the memory that a method's plan lays tensors out in.

use crate::bridge::ffi;
use crate::file::SLACK;
use memmap2::MmapMut;
use std::sync::Arc;

/// One planned arena: zeroed, aligned to pages, of fixed size, freed with the last that shares it. Its pages become resident
/// when they are first written: a KV cache costs what is in it.
///
/// Arenas that share their memory belong to the methods of one group, and to the group itself, which lends out one of them
/// at a time: whoever has one exclusively has all.
#[derive(Debug)]
pub(crate) struct Arena {
    /// `None` for no bytes.
    memory: Option<Arc<MmapMut>>,
    bytes: usize,
}

impl Arena {
    /// `None` if the memory can't be had.
    pub(crate) fn new(bytes: usize) -> Option<Self> {
        if bytes == 0 {
            return Some(Self { memory: None, bytes });
        }
        let memory = MmapMut::map_anon(bytes.checked_add(SLACK)?).ok()?;
        Some(Self { memory: Some(Arc::new(memory)), bytes })
    }

    /// The same memory once more, for a group.
    pub(crate) fn share(&self) -> Self {
        Self { memory: self.memory.clone(), bytes: self.bytes }
    }

    pub(crate) fn as_slice(&self) -> &[u8] {
        let ffi::ArenaSpan { data, bytes } = self.span();
        // SAFETY: the mapping has the bytes and lives as long as `self`; nobody writes meanwhile, as said above.
        unsafe { std::slice::from_raw_parts(data, bytes) }
    }

    pub(crate) fn as_mut_slice(&mut self) -> &mut [u8] {
        let ffi::ArenaSpan { data, bytes } = self.span();
        // SAFETY: as above; nobody reads meanwhile either.
        unsafe { std::slice::from_raw_parts_mut(data, bytes) }
    }

    /// For C++, which reads and writes it through this address while no one borrows it here.
    pub(crate) fn span(&self) -> ffi::ArenaSpan {
        let data = self.memory.as_ref().map_or(std::ptr::dangling_mut(), |memory| memory.as_ptr().cast_mut());
        ffi::ArenaSpan { data, bytes: self.bytes }
    }
}
