//! The tensors of a kernel call, as C++ hands them over: checked before anything is made of them.

use crate::bridge::ffi;
use crate::tensor::{DType, Element, byte_length};

/// A tensor of which only the shape was looked at.
#[derive(Debug, Clone, Copy)]
pub(super) struct Tensor<'a> {
    name: &'static str,
    sizes: &'a [usize],
    data: *mut u8,
    bytes: usize,
}

impl<'a> Tensor<'a> {
    /// Checks that the tensor is row by row, of elements of `T` and has as many dimensions as there is room for in
    /// `sizes`.
    ///
    /// # Errors
    /// What is wrong, in words.
    ///
    /// # Safety
    /// `sizes` of `raw` must have `dims` numbers.
    pub(super) unsafe fn new<T: Element>(
        name: &'static str,
        raw: &ffi::KernelTensor,
        sizes: &'a mut [usize],
    ) -> Result<Self, String> {
        if !raw.given {
            return Err(format!("{name} is missing"));
        }
        let dtype = DType::from_raw(raw.dtype);
        if dtype != T::DTYPE {
            return Err(format!("{name} is of {dtype}, not of {}", T::DTYPE));
        }
        if raw.dims != sizes.len() {
            return Err(format!("{name} has {} dimensions, not {}", raw.dims, sizes.len()));
        }
        // SAFETY: the caller's promise; it has at least one dimension, as `sizes` has.
        let given = unsafe { std::slice::from_raw_parts(raw.sizes, raw.dims) };
        for (size, &given) in sizes.iter_mut().zip(given) {
            *size = usize::try_from(given).map_err(|_| format!("{name} has a size of {given}"))?;
        }
        if !raw.row_major {
            return Err(format!("{name} is not in row-major order"));
        }
        let aligned = (raw.data as usize).is_multiple_of(align_of::<T>());
        if byte_length(given, dtype) != Some(raw.bytes) || !aligned || (raw.data.is_null() && raw.bytes > 0) {
            return Err(format!("{name} has no memory that fits its shape"));
        }
        Ok(Self { name, sizes, data: raw.data, bytes: raw.bytes })
    }

    /// As [`Tensor::new`], of an argument that may be left out.
    ///
    /// # Errors
    /// What is wrong, in words.
    ///
    /// # Safety
    /// `sizes` of `raw` must have `dims` numbers, if it is given.
    pub(super) unsafe fn optional<T: Element>(
        name: &'static str,
        raw: &ffi::KernelTensor,
        sizes: &'a mut [usize],
    ) -> Result<Option<Self>, String> {
        // SAFETY: the caller's promise.
        if raw.given { unsafe { Self::new::<T>(name, raw, sizes) }.map(Some) } else { Ok(None) }
    }

    pub(super) fn name(&self) -> &'static str {
        self.name
    }

    pub(super) fn sizes(&self) -> &'a [usize] {
        self.sizes
    }

    /// # Errors
    /// If the shape is another.
    pub(super) fn must_be(&self, sizes: &[usize]) -> Result<(), String> {
        if self.sizes == sizes {
            return Ok(());
        }
        Err(format!("{} has shape {:?}, not {sizes:?}", self.name, self.sizes))
    }

    /// # Errors
    /// If both have bytes in common.
    pub(super) fn must_be_apart_from(&self, other: &Tensor<'_>) -> Result<(), String> {
        let (start, begin) = (self.data as usize, other.data as usize);
        let meet = start < begin.saturating_add(other.bytes) && begin < start.saturating_add(self.bytes);
        if !meet || self.bytes == 0 || other.bytes == 0 {
            return Ok(());
        }
        Err(format!("{} is written, and shares memory with {}", self.name, other.name))
    }

    /// The elements.
    ///
    /// # Safety
    /// The memory must be readable for `'b`, written by nobody meanwhile, and `T` the type that it was checked for.
    pub(super) unsafe fn elements<'b, T: Element>(&self) -> &'b [T] {
        if self.bytes == 0 {
            return &[];
        }
        // SAFETY: aligned and not null as checked; a number may have any bits.
        unsafe { std::slice::from_raw_parts(self.data.cast(), self.bytes / size_of::<T>()) }
    }

    /// The elements, to be written.
    ///
    /// # Safety
    /// As for [`Tensor::elements`], and nobody else may read the memory meanwhile.
    pub(super) unsafe fn elements_mut<'b, T: Element>(&self) -> &'b mut [T] {
        if self.bytes == 0 {
            return &mut [];
        }
        // SAFETY: as above.
        unsafe { std::slice::from_raw_parts_mut(self.data.cast(), self.bytes / size_of::<T>()) }
    }
}

/// A text argument.
///
/// # Errors
/// If it is not UTF-8.
///
/// # Safety
/// `raw` must point to as many bytes as it says, for `'a`.
#[cfg_attr(
    not(test),
    expect(dead_code, reason = "the first operator that takes one comes with the next change")
)]
pub(super) unsafe fn text<'a>(name: &str, raw: &ffi::KernelText) -> Result<&'a str, String> {
    if raw.bytes == 0 {
        return Ok("");
    }
    // SAFETY: the caller's promise.
    let bytes = unsafe { std::slice::from_raw_parts(raw.data, raw.bytes) };
    std::str::from_utf8(bytes).map_err(|_| format!("{name} is not UTF-8"))
}
