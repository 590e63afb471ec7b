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

impl<'a> TensorMut<'a> {
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

    /// The first `mid` elements, of which there must be so many, and the rest.
    pub(crate) fn split_at(self, mid: usize) -> (Self, Self) {
        fn halves<'a, T>(
            out: &'a mut [T],
            mid: usize,
            of: impl Fn(&'a mut [T]) -> TensorMut<'a>,
        ) -> (TensorMut<'a>, TensorMut<'a>) {
            let (first, second) = out.split_at_mut(mid);
            (of(first), of(second))
        }
        match self {
            Self::F32(out) => halves(out, mid, TensorMut::F32),
            Self::F16(out) => halves(out, mid, TensorMut::F16),
            Self::U8(out) => halves(out, mid, TensorMut::U8),
            Self::I8(out) => halves(out, mid, TensorMut::I8),
        }
    }

    /// Fills it with what stands for 0 in `element`.
    pub(crate) fn fill_zero(self, element: Element) {
        let zero = match element {
            Element::F32 | Element::F16 => 0,
            Element::U8(by) | Element::I8(by) => by.zero_point,
        };
        match self {
            Self::F32(out) => out.fill(0.0),
            Self::F16(out) => out.fill(f16::ZERO),
            Self::U8(out) => out.fill(zero as u8),
            Self::I8(out) => out.fill(zero as i8),
        }
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
