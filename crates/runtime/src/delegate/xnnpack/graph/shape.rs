//! Shapes and their checked arithmetic.

use std::fmt;

/// As many as XNNPACK handles.
pub(super) const MAX_DIMS: usize = 6;
/// A dimension that ExecuTorch can express.
const MAX_DIM: u64 = i32::MAX as u64;
/// More than any device holds, yet far from overflow when multiplied by bits an element.
const MAX_ELEMENTS: u64 = 1 << 40;

/// A shape of at most [`MAX_DIMS`] dimensions, none of them 0, whose elements can be counted.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Shape(Vec<u64>);

impl Shape {
    /// The shape of these dimensions.
    ///
    /// # Errors
    /// One clause that says what is wrong with them.
    pub(super) fn new(dims: impl IntoIterator<Item = u64>) -> Result<Self, String> {
        let shape = Self(dims.into_iter().collect());
        if shape.0.len() > MAX_DIMS {
            return Err(format!("has {} dimensions, XNNPACK takes at most {MAX_DIMS}", shape.0.len()));
        }
        if shape.0.contains(&0) {
            return Err(format!("has the shape {shape}, without any element"));
        }
        let elements = shape.0.iter().try_fold(1u64, |product, &dim| product.checked_mul(dim));
        match elements {
            Some(elements) if elements <= MAX_ELEMENTS && shape.0.iter().all(|&dim| dim <= MAX_DIM) => {
                Ok(shape)
            }
            _ => Err(format!("has the shape {shape}, which no memory holds")),
        }
    }

    pub(super) fn dims(&self) -> &[u64] {
        &self.0
    }

    pub(super) fn rank(&self) -> usize {
        self.0.len()
    }

    pub(super) fn elements(&self) -> u64 {
        self.0.iter().product()
    }

    /// The product of the last `count` dimensions, all of them if there are fewer.
    pub(super) fn inner(&self, count: usize) -> u64 {
        self.0.iter().rev().take(count).product()
    }

    /// The last dimension; 1 for a scalar.
    pub(super) fn last(&self) -> u64 {
        self.0.last().copied().unwrap_or(1)
    }

    /// Bytes of so many elements of `bits` each.
    pub(super) fn bytes(&self, bits: u64) -> u64 {
        (self.elements() * bits).div_ceil(8)
    }

    /// Batch, height, width and channels.
    ///
    /// # Errors
    /// One clause if it has not 4 dimensions.
    pub(super) fn nhwc(&self) -> Result<[u64; 4], String> {
        self.0
            .as_slice()
            .try_into()
            .map_err(|_| format!("has the shape {self}, the node needs batch, height, width and channels"))
    }

    /// The shape that two operands give by broadcasting.
    ///
    /// # Errors
    /// One sentence if they do not fit.
    pub(super) fn broadcast(&self, other: &Self) -> Result<Self, String> {
        let rank = self.rank().max(other.rank());
        let padded = |shape: &Self| {
            let ones = rank - shape.rank();
            std::iter::repeat_n(1, ones).chain(shape.0.clone()).collect::<Vec<_>>()
        };
        let dims = padded(self).into_iter().zip(padded(other)).map(|pair| match pair {
            (1, dim) | (dim, 1) => Some(dim),
            (a, b) => (a == b).then_some(a),
        });
        let dims = dims
            .collect::<Option<Vec<_>>>()
            .ok_or_else(|| format!("its inputs of shapes {self} and {other} do not fit"))?;
        Self::new(dims).map_err(|what| format!("its output {what}"))
    }
}

impl fmt::Display for Shape {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:?}", self.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shape(dims: &[u64]) -> Shape {
        Shape::new(dims.iter().copied()).unwrap()
    }

    #[test]
    fn shapes_broadcast_from_the_last_dimension() {
        assert_eq!(shape(&[2, 1, 4]).broadcast(&shape(&[3, 1])).unwrap(), shape(&[2, 3, 4]));
        assert_eq!(shape(&[]).broadcast(&shape(&[5])).unwrap(), shape(&[5]));
        assert!(shape(&[2, 3]).broadcast(&shape(&[2, 4])).is_err());
    }

    #[test]
    fn shapes_that_no_memory_holds_are_refused() {
        assert!(Shape::new([1 << 20, 1 << 20, 1 << 20, 1 << 20]).is_err());
        assert!(Shape::new([u64::MAX, u64::MAX]).is_err());
        assert!(Shape::new([1 << 31]).is_err());
        assert!(Shape::new([3, 0]).is_err());
        assert!(Shape::new([1; 7]).is_err());
    }
}
