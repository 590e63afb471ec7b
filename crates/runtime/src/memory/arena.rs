//! Planned arenas: the memory that a method's plan lays tensors out in.

use crate::bridge::ffi;
use crate::file::SLACK;
use memmap2::MmapMut;

/// One planned arena: zeroed, aligned to pages, of fixed size, freed on drop. Its pages become resident when they are
/// first written: a KV cache costs what is in it.
#[derive(Debug)]
pub(crate) struct Arena {
    /// `None` for no bytes.
    memory: Option<MmapMut>,
    bytes: usize,
}

impl Arena {
    /// `None` if the memory can't be had.
    pub(crate) fn new(bytes: usize) -> Option<Self> {
        if bytes == 0 {
            return Some(Self { memory: None, bytes });
        }
        let memory = MmapMut::map_anon(bytes.checked_add(SLACK)?).ok()?;
        Some(Self { memory: Some(memory), bytes })
    }

    pub(crate) fn as_slice(&self) -> &[u8] {
        self.memory.as_ref().map_or(&[], |memory| &memory[..self.bytes])
    }

    pub(crate) fn as_mut_slice(&mut self) -> &mut [u8] {
        let bytes = self.bytes;
        self.memory.as_mut().map_or(&mut [], |memory| &mut memory[..bytes])
    }

    /// For C++, which reads and writes it through this address while no one borrows it here.
    pub(crate) fn span(&self) -> ffi::ArenaSpan {
        let data = self.memory.as_ref().map_or(std::ptr::dangling_mut(), |memory| memory.as_ptr().cast_mut());
        ffi::ArenaSpan { data, bytes: self.bytes }
    }
}
