//! Inputs of methods, with memory of their own.

use crate::error::Result;
use nearside_pipeline::runtime::{DType, TensorRef};
use std::ops::Range;

/// One input.
pub(crate) struct Input {
    dtype: DType,
    sizes: Vec<i32>,
    memory: Vec<u8>,
    /// Where in the memory the elements are: at an address that is aligned for every type.
    elements: Range<usize>,
}

impl Input {
    pub(crate) fn new(dtype: DType, sizes: Vec<i32>, elements: &[u8]) -> Self {
        const ALIGN: usize = 16;
        let mut memory = vec![0; elements.len() + ALIGN];
        let start = memory.as_ptr().align_offset(ALIGN);
        let range = start..start + elements.len();
        memory[range.clone()].copy_from_slice(elements);
        Self { dtype, sizes, memory, elements: range }
    }

    pub(crate) fn tensor(&self) -> Result<TensorRef<'_>> {
        Ok(TensorRef::from_bytes(self.dtype, &self.memory[self.elements.clone()], &self.sizes)?)
    }
}
