//! Borrowed tensors: what goes into a method and what comes out.

use crate::error::{Error, Result};
use std::fmt;

/// Element types, numbered as in ExecuTorch's `ScalarType`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[allow(missing_docs)]
#[non_exhaustive]
pub enum DType {
    U8,
    I8,
    I16,
    I32,
    I64,
    F16,
    F32,
    F64,
    Complex32,
    Complex64,
    Complex128,
    Bool,
    BF16,
    U16,
    U32,
    U64,
    /// One that this crate does not read.
    Other(i8),
}

/// Each type with ExecuTorch's number (portable_type/scalar_type.h), its name and its bytes an element.
const DTYPES: [(DType, i8, &str, usize); 16] = [
    (DType::U8, 0, "u8", 1),
    (DType::I8, 1, "i8", 1),
    (DType::I16, 2, "i16", 2),
    (DType::I32, 3, "i32", 4),
    (DType::I64, 4, "i64", 8),
    (DType::F16, 5, "f16", 2),
    (DType::F32, 6, "f32", 4),
    (DType::F64, 7, "f64", 8),
    (DType::Complex32, 8, "complex32", 4),
    (DType::Complex64, 9, "complex64", 8),
    (DType::Complex128, 10, "complex128", 16),
    (DType::Bool, 11, "bool", 1),
    (DType::BF16, 15, "bf16", 2),
    (DType::U16, 27, "u16", 2),
    (DType::U32, 28, "u32", 4),
    (DType::U64, 29, "u64", 8),
];

impl DType {
    pub(crate) fn from_raw(raw: i8) -> Self {
        DTYPES.iter().find(|row| row.1 == raw).map_or(Self::Other(raw), |row| row.0)
    }

    pub(crate) fn to_raw(self) -> i8 {
        match self {
            Self::Other(raw) => raw,
            named => DTYPES.iter().find(|row| row.0 == named).map_or(-1, |row| row.1),
        }
    }

    /// Bytes an element. `None` for a type that this crate does not read.
    pub fn element_bytes(self) -> Option<usize> {
        DTYPES.iter().find(|row| row.0 == self).map(|row| row.3)
    }
}

impl fmt::Display for DType {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Other(raw) => write!(f, "ExecuTorch type {raw}"),
            named => f.write_str(DTYPES.iter().find(|row| row.0 == *named).map_or("?", |row| row.2)),
        }
    }
}

mod sealed {
    pub trait Sealed {}
}

/// A Rust type that can be a tensor's element.
pub trait Element: Copy + sealed::Sealed + 'static {
    /// The element type in ExecuTorch's terms.
    const DTYPE: DType;
}

macro_rules! element {
    ($($rust:ty => $dtype:ident),*) => {$(
        impl sealed::Sealed for $rust {}
        impl Element for $rust {
            const DTYPE: DType = DType::$dtype;
        }
    )*};
}
element!(u8 => U8, i8 => I8, i16 => I16, i32 => I32, i64 => I64, f32 => F32, f64 => F64, u16 => U16, u32 => U32, u64 => U64);

/// A tensor that is passed to a method: a borrowed slice and its shape.
///
/// The elements are in the order that the input's metadata gives (`dim_order`), which is row major unless the model was
/// exported with another memory format.
#[derive(Debug, Clone, Copy)]
pub struct TensorRef<'a> {
    pub(crate) dtype: DType,
    pub(crate) sizes: &'a [i32],
    pub(crate) bytes: &'a [u8],
}

impl<'a> TensorRef<'a> {
    /// A view of `data` with shape `sizes`.
    ///
    /// # Errors
    /// [`Error::TensorLength`] if `data` does not have as many elements as `sizes` multiply to.
    pub fn new<T: Element>(data: &'a [T], sizes: &'a [i32]) -> Result<Self> {
        Self { dtype: T::DTYPE, sizes, bytes: bytes_of(data) }.checked()
    }

    /// A view of `bytes` as elements of `dtype`, in the machine's byte order, with shape `sizes`: for types that Rust has
    /// no name for, or that are known only at run time.
    ///
    /// # Errors
    /// [`Error::TensorLength`] if there are not as many bytes as `sizes` and `dtype` ask for; [`Error::TensorBytes`] if
    /// they are not aligned for `dtype`, or not all 0 or 1 for `bool`.
    pub fn from_bytes(dtype: DType, bytes: &'a [u8], sizes: &'a [i32]) -> Result<Self> {
        let tensor = Self { dtype, sizes, bytes }.checked()?;
        let align = dtype.element_bytes().unwrap_or(1);
        if !bytes.is_empty() && !(bytes.as_ptr() as usize).is_multiple_of(align) {
            return Err(Error::TensorBytes {
                dtype,
                reason: format!("they are not aligned to {align} bytes"),
            });
        }
        if dtype == DType::Bool
            && let Some(other) = bytes.iter().find(|&&byte| byte > 1)
        {
            return Err(Error::TensorBytes { dtype, reason: format!("one is {other}, not 0 or 1") });
        }
        Ok(tensor)
    }

    fn checked(self) -> Result<Self> {
        match byte_length(self.sizes, self.dtype) {
            Some(needed) if needed == self.bytes.len() => Ok(self),
            needed => Err(Error::TensorLength {
                sizes: self.sizes.to_vec(),
                dtype: self.dtype,
                needed: needed.map_or(u64::MAX, |needed| needed as u64),
                found: self.bytes.len() as u64,
            }),
        }
    }
}

/// A tensor that a method gave: a view into its memory, valid until the next run.
#[derive(Debug, Clone, Copy)]
pub struct TensorView<'a> {
    pub(crate) index: usize,
    pub(crate) dtype: DType,
    pub(crate) sizes: &'a [i32],
    pub(crate) bytes: &'a [u8],
}

impl<'a> TensorView<'a> {
    /// The element type.
    pub fn dtype(&self) -> DType {
        self.dtype
    }

    /// The shape.
    pub fn sizes(&self) -> &'a [i32] {
        self.sizes
    }

    /// The elements as bytes.
    pub fn bytes(&self) -> &'a [u8] {
        self.bytes
    }

    /// The elements, without a copy.
    ///
    /// # Errors
    /// [`Error::OutputType`] if `T` is not the tensor's element type.
    pub fn as_slice<T: Element>(&self) -> Result<&'a [T]> {
        let wrong = |found: String| Error::OutputType {
            index: self.index,
            expected: std::any::type_name::<T>(),
            found,
        };
        if T::DTYPE != self.dtype {
            return Err(wrong(format!("a tensor of {}", self.dtype)));
        }
        // SAFETY: `T` is a plain number, of which every bit pattern is a value.
        let (before, elements, after) = unsafe { self.bytes.align_to::<T>() };
        if before.is_empty() && after.is_empty() { Ok(elements) } else { Err(wrong("not aligned".into())) }
    }
}

/// Bytes that a tensor takes. `None` if a size is negative, the product overflows or the type is unknown.
pub(crate) fn byte_length(sizes: &[i32], dtype: DType) -> Option<usize> {
    sizes
        .iter()
        .try_fold(1usize, |product, &size| product.checked_mul(usize::try_from(size).ok()?))?
        .checked_mul(dtype.element_bytes()?)
}

fn bytes_of<T: Element>(data: &[T]) -> &[u8] {
    // SAFETY: `T` is a plain number without padding, and the length is that of the slice.
    unsafe { std::slice::from_raw_parts(data.as_ptr().cast(), size_of_val(data)) }
}
