//! The memory that a tensor is written to.

use half::f16;

use crate::{Element, Error, Result};

/// The caller's memory for a tensor, by the type of its elements.
///
/// Made from a slice or a vector: `preprocessor.run(&frame, &mut floats)`.
#[derive(Debug)]
pub enum TensorMut<'a> {
    /// For [`Element::F32`].
    F32(&'a mut [f32]),
    /// For [`Element::F16`].
    F16(&'a mut [f16]),
    /// For [`Element::U8`].
    U8(&'a mut [u8]),
    /// For [`Element::I8`].
    I8(&'a mut [i8]),
}

impl TensorMut<'_> {
    /// Elements that it holds.
    pub fn len(&self) -> usize {
        match self {
            Self::F32(out) => out.len(),
            Self::F16(out) => out.len(),
            Self::U8(out) => out.len(),
            Self::I8(out) => out.len(),
        }
    }

    /// Whether it holds nothing.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The type of its elements, as [`Element::name`] gives it.
    fn name(&self) -> &'static str {
        match self {
            Self::F32(_) => "float32",
            Self::F16(_) => "float16",
            Self::U8(_) => "uint8",
            Self::I8(_) => "int8",
        }
    }

    /// Makes sure that it has the type of `element`.
    pub(crate) fn expect(&self, element: Element) -> Result<()> {
        if self.name() == element.name() {
            return Ok(());
        }
        Err(Error::WrongOutputType { has: self.name(), needs: element.name() })
    }
}

macro_rules! from_memory {
    ($($variant:ident($element:ty)),*) => {$(
        impl<'a> From<&'a mut [$element]> for TensorMut<'a> {
            fn from(out: &'a mut [$element]) -> Self {
                Self::$variant(out)
            }
        }

        impl<'a> From<&'a mut Vec<$element>> for TensorMut<'a> {
            fn from(out: &'a mut Vec<$element>) -> Self {
                Self::$variant(out)
            }
        }
    )*};
}

from_memory!(F32(f32), F16(f16), U8(u8), I8(i8));
