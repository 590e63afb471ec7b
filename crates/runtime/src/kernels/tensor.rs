//! The tensors of a kernel call, as C++ hands them over: checked before anything is made of them.

use crate::bridge::ffi;
use crate::tensor::{DType, Element, byte_length};

/// Dimensions that a tensor has at most: ExecuTorch's `kTensorDimensionLimit`.
pub(super) const MAX_DIMS: usize = 16;

/// A tensor of which only the shape was looked at.
#[derive(Debug, Clone, Copy)]
pub(super) struct Tensor<'a> {
    name: &'static str,
    dtype: DType,
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
        // SAFETY: the caller's promise.
        unsafe { Self::of_any(name, raw, &[T::DTYPE], sizes) }
    }

    /// As [`Tensor::new`], of one of several types, none of which is [`DType::Other`].
    ///
    /// # Errors
    /// What is wrong, in words.
    ///
    /// # Safety
    /// As for [`Tensor::new`].
    pub(super) unsafe fn of_any(
        name: &'static str,
        raw: &ffi::KernelTensor,
        dtypes: &[DType],
        sizes: &'a mut [usize],
    ) -> Result<Self, String> {
        if !raw.given {
            return Err(format!("{name} is missing"));
        }
        let dtype = DType::from_raw(raw.dtype);
        if !dtypes.contains(&dtype) {
            let wanted: Vec<_> = dtypes.iter().map(DType::to_string).collect();
            return Err(format!("{name} is of {dtype}, not of {}", wanted.join(" or ")));
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
        // These types are aligned as they are long.
        let aligned = dtype.element_bytes().is_some_and(|bytes| (raw.data as usize).is_multiple_of(bytes));
        if byte_length(given, dtype) != Some(raw.bytes) || !aligned || (raw.data.is_null() && raw.bytes > 0) {
            return Err(format!("{name} has no memory that fits its shape"));
        }
        Ok(Self { name, dtype, sizes, data: raw.data, bytes: raw.bytes })
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

    /// As [`Tensor::new`], of any number of dimensions but 0.
    ///
    /// # Errors
    /// What is wrong, in words.
    ///
    /// # Safety
    /// As for [`Tensor::new`].
    pub(super) unsafe fn of_rows<T: Element>(
        name: &'static str,
        raw: &ffi::KernelTensor,
        sizes: &'a mut [usize; MAX_DIMS],
    ) -> Result<Self, String> {
        if raw.given && !(1..=MAX_DIMS).contains(&raw.dims) {
            return Err(format!("{name} has {} dimensions, not 1 to {MAX_DIMS}", raw.dims));
        }
        // SAFETY: the caller's promise.
        unsafe { Self::new::<T>(name, raw, &mut sizes[..raw.dims.min(MAX_DIMS)]) }
    }

    pub(super) fn name(&self) -> &'static str {
        self.name
    }

    pub(super) fn dtype(&self) -> DType {
        self.dtype
    }

    /// The first byte. Whoever uses it needs what [`Tensor::elements_mut`] does.
    pub(super) fn data(&self) -> *mut u8 {
        self.data
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
pub(super) unsafe fn text<'a>(name: &str, raw: &ffi::KernelText) -> Result<&'a str, String> {
    if raw.bytes == 0 {
        return Ok("");
    }
    // SAFETY: the caller's promise.
    let bytes = unsafe { std::slice::from_raw_parts(raw.data, raw.bytes) };
    std::str::from_utf8(bytes).map_err(|_| format!("{name} is not UTF-8"))
}
