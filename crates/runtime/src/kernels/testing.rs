//! What the tests of kernels make calls of.

use crate::bridge::ffi;
use crate::tensor::Element;

/// A tensor with memory of its own.
#[derive(Clone)]
pub(super) struct Owned<T> {
    pub(super) sizes: Vec<i32>,
    pub(super) data: Vec<T>,
}

impl<T: Element> Owned<T> {
    pub(super) fn new(sizes: &[usize], data: Vec<T>) -> Self {
        Self { sizes: sizes.iter().map(|&size| size as i32).collect(), data }
    }

    pub(super) fn raw(&mut self) -> ffi::KernelTensor {
        ffi::KernelTensor {
            given: true,
            dtype: T::DTYPE.to_raw(),
            row_major: true,
            sizes: self.sizes.as_ptr(),
            dims: self.sizes.len(),
            data: self.data.as_mut_ptr().cast(),
            bytes: size_of_val(self.data.as_slice()),
        }
    }
}

/// An optional tensor that is left out.
pub(super) fn absent() -> ffi::KernelTensor {
    ffi::KernelTensor {
        given: false,
        dtype: 0,
        row_major: false,
        sizes: std::ptr::null(),
        dims: 0,
        data: std::ptr::null_mut(),
        bytes: 0,
    }
}

/// Numbers without a pattern, the same in each run: xorshift64* (Vigna, 2016, arXiv:1402.6246).
pub(super) struct Random(u64);

impl Random {
    pub(super) fn new() -> Self {
        Self(0x9e37_79b9_7f4a_7c15)
    }

    pub(super) fn next(&mut self) -> u64 {
        self.0 ^= self.0 >> 12;
        self.0 ^= self.0 << 25;
        self.0 ^= self.0 >> 27;
        self.0.wrapping_mul(0x2545_f491_4f6c_dd1d)
    }

    /// From -1 to 1.
    pub(super) fn float(&mut self) -> f32 {
        (self.next() >> 40) as f32 / (1 << 23) as f32 - 1.0
    }

    pub(super) fn floats(&mut self, sizes: &[usize]) -> Owned<f32> {
        Owned::new(sizes, (0..sizes.iter().product()).map(|_| self.float()).collect())
    }
}
