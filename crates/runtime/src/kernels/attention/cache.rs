//! The keys or values of a layer, as they are kept.

use crate::kernels::lanes::{Lanes, PADDING};
use crate::kernels::tensor::Tensor;
use crate::tensor::DType;
use std::marker::PhantomData;

/// The types that a cache may have.
pub(in crate::kernels) const DTYPES: [DType; 3] = [DType::F32, DType::F16, DType::U8];

/// Bytes of a row's scale in a cache of bytes.
pub(in crate::kernels) const SCALE_BYTES: usize = size_of::<f32>();

/// What the elements of a cache are.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::kernels) enum Kind {
    F32,
    F16,
    /// Whole numbers from -127 to 127, with a scale a row.
    I8,
}

impl Kind {
    /// Bytes of an element.
    pub(super) fn bytes(self) -> usize {
        match self {
            Self::F32 => size_of::<f32>(),
            Self::F16 => size_of::<u16>(),
            Self::I8 => size_of::<i8>(),
        }
    }
}

/// A cache `[KV, C, D]`, or `[KV, C, D + 4]` of bytes: for each head `C * D` numbers, row by row, then `C` scales (f32).
///
/// It is written and read from several threads: different heads, or only read.
pub(in crate::kernels) struct Cache<'a> {
    pub(super) kind: Kind,
    data: *mut u8,
    key_heads: usize,
    slots: usize,
    dim: usize,
    memory: PhantomData<&'a mut [u8]>,
}

// SAFETY: its functions say what may be done at once.
unsafe impl Sync for Cache<'_> {}

impl Cache<'_> {
    /// The cache in a tensor that was checked to have one of [`DTYPES`] and the shape for heads of `dim`.
    ///
    /// # Safety
    /// The tensor's memory must be there for as long as the cache, and be used by nothing else.
    pub(in crate::kernels) unsafe fn new(tensor: &Tensor<'_>, dim: usize) -> Self {
        let kind = match tensor.dtype() {
            DType::F16 => Kind::F16,
            DType::U8 => Kind::I8,
            _ => Kind::F32,
        };
        let [key_heads, slots] = [tensor.sizes()[0], tensor.sizes()[1]];
        Self { kind, data: tensor.data(), key_heads, slots, dim, memory: PhantomData }
    }

    /// A head's rows.
    pub(super) fn rows(&self, head: usize) -> *mut u8 {
        assert!(head < self.key_heads);
        let row = match self.kind {
            Kind::F32 => self.dim * size_of::<f32>(),
            Kind::F16 => self.dim * size_of::<u16>(),
            Kind::I8 => self.dim + SCALE_BYTES,
        };
        // SAFETY: the head is there.
        unsafe { self.data.add(head * self.slots * row) }
    }

    /// A head's scales, which may be unaligned.
    pub(super) fn scales(&self, head: usize) -> *mut u8 {
        // SAFETY: they follow the rows.
        unsafe { self.rows(head).add(self.slots * self.dim) }
    }

    /// Writes a row to a cache of f32.
    ///
    /// # Safety
    /// Nothing else uses the head meanwhile.
    pub(super) unsafe fn copy(&self, head: usize, slot: usize, row: &[f32]) {
        assert!(self.kind == Kind::F32 && slot < self.slots && row.len() == self.dim);
        // SAFETY: the slot is there.
        unsafe {
            let to = self.rows(head).cast::<f32>().add(slot * self.dim);
            to.copy_from_nonoverlapping(row.as_ptr(), self.dim);
        }
    }

    /// Writes a row of `dim` elements, with room for a multiple of [`PADDING`].
    ///
    /// # Safety
    /// Nothing else uses the head meanwhile; the processor has the instruction set.
    #[inline(always)]
    pub(in crate::kernels) unsafe fn store<L: Lanes>(&self, head: usize, slot: usize, row: &mut [f32]) {
        assert!(slot < self.slots && row.len() == self.dim.next_multiple_of(PADDING));
        let at = slot * self.dim;
        // SAFETY: the slot is there, and so is a padded row in the buffers.
        unsafe {
            match self.kind {
                Kind::F32 => {
                    let to = self.rows(head).cast::<f32>().add(at);
                    to.copy_from_nonoverlapping(row.as_ptr(), self.dim);
                }
                Kind::F16 => halves::<L>(row, self.rows(head).cast::<u16>().add(at), self.dim),
                Kind::I8 => {
                    row[self.dim..].fill(0.0);
                    let scale = bytes::<L>(row, self.rows(head).cast::<i8>().add(at), self.dim);
                    self.scales(head).cast::<f32>().add(slot).write_unaligned(scale);
                }
            }
        }
    }
}

/// Writes the first `dim` elements of a padded row as half floats.
#[inline(always)]
unsafe fn halves<L: Lanes>(row: &[f32], to: *mut u16, dim: usize) {
    // SAFETY: the caller's promise; a vector that is no whole one goes by way of a buffer.
    unsafe {
        for at in (0..dim).step_by(L::LANES) {
            let x = L::load(row.as_ptr().add(at));
            if at + L::LANES <= dim {
                L::store_f16(to.add(at), x);
            } else {
                let mut last = [0u16; PADDING];
                L::store_f16(last.as_mut_ptr(), x);
                to.add(at).copy_from_nonoverlapping(last.as_ptr(), dim - at);
            }
        }
    }
}

/// Writes the first `dim` elements of a padded row, whose padding is 0, as whole numbers: from -127 to 127, against the
/// scale that it gives.
#[inline(always)]
pub(super) unsafe fn bytes<L: Lanes>(row: &[f32], to: *mut i8, dim: usize) -> f32 {
    // SAFETY: as for `halves`.
    unsafe {
        let mut largest = L::splat(0.0);
        for at in (0..row.len()).step_by(L::LANES) {
            largest = L::max(L::abs(L::load(row.as_ptr().add(at))), largest);
        }
        let scale = L::largest(largest) / 127.0;
        let divisor = L::splat(if scale > 0.0 { scale } else { 1.0 });
        let [low, high] = [-127.0, 127.0].map(|limit| L::splat(limit));
        for at in (0..dim).step_by(L::LANES) {
            let x = L::div(L::load(row.as_ptr().add(at)), divisor);
            // What is no number becomes the limit.
            let x = L::min(L::max(x, low), high);
            if at + L::LANES <= dim {
                L::store_i8(to.add(at), x);
            } else {
                let mut last = [0i8; PADDING];
                L::store_i8(last.as_mut_ptr(), x);
                to.add(at).copy_from_nonoverlapping(last.as_ptr(), dim - at);
            }
        }
        scale
    }
}
