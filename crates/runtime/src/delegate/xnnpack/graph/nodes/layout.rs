//! Nodes that move elements and leave them as they are.

use super::{Operand, Outcome, one_type};
use crate::delegate::xnnpack::graph::datatype::Datatype::{self, *};
use crate::delegate::xnnpack::graph::shape::Shape;
use crate::delegate::xnnpack::graph::values::Value;

const MOVABLE: &[Datatype] = &[F32, F16, Bf16, I32, QInt8, QUint8];

pub(super) fn copy(inputs: &[Operand<'_>], outputs: &[&Value]) -> Result<Outcome, String> {
    one_type(MOVABLE, inputs, outputs)?;
    Ok(Outcome::of(inputs[0].shape.clone()))
}

pub(super) fn transpose(
    order: &[u32],
    inputs: &[Operand<'_>],
    outputs: &[&Value],
) -> Result<Outcome, String> {
    one_type(MOVABLE, inputs, outputs)?;
    let shape = inputs[0].shape;
    let mut sorted = order.to_vec();
    sorted.sort_unstable();
    if order.is_empty() || !sorted.into_iter().map(|dim| dim as usize).eq(0..shape.rank()) {
        return Err(format!("orders the dimensions of {shape} as {order:?}"));
    }
    Ok(Outcome::of(output(order.iter().map(|&dim| shape.dims()[dim as usize]))?))
}

/// `wanted` may have one 0, which stands for whatever is left.
pub(super) fn reshape(wanted: &[u32], inputs: &[Operand<'_>], outputs: &[&Value]) -> Result<Outcome, String> {
    one_type(MOVABLE, inputs, outputs)?;
    let elements = inputs[0].shape.elements();
    let mut known = wanted.iter().filter(|&&dim| dim != 0);
    let known = known.try_fold(1u64, |product, &dim| product.checked_mul(dim.into()));
    let unknown = wanted.iter().filter(|&&dim| dim == 0).count();
    let left = match (known, unknown) {
        (Some(known), 0 | 1) if elements.is_multiple_of(known) => elements / known,
        _ => 0,
    };
    if left == 0 || (unknown == 0 && left != 1) {
        return Err(format!("can't shape {} as {wanted:?}", inputs[0].shape));
    }
    Ok(Outcome::of(output(wanted.iter().map(|&dim| if dim == 0 { left } else { dim.into() }))?))
}

/// A size of 0 stands for the rest of the dimension. At run time XNNPACK cuts sizes to what there is.
pub(super) fn slice(
    offsets: &[u32],
    sizes: &[u32],
    inputs: &[Operand<'_>],
    outputs: &[&Value],
) -> Result<Outcome, String> {
    one_type(MOVABLE, inputs, outputs)?;
    let shape = inputs[0].shape;
    let wrong = || format!("takes {sizes:?} at {offsets:?} of the shape {shape}");
    if shape.rank() == 0 || offsets.len() != shape.rank() || sizes.len() != shape.rank() {
        return Err(wrong());
    }
    let dims = shape.dims().iter().zip(offsets.iter().zip(sizes)).map(|(&dim, (&offset, &size))| {
        let left = dim.checked_sub(offset.into())?;
        let size = if size == 0 { left } else { size.into() };
        (size != 0 && size <= left).then_some(size)
    });
    Ok(Outcome::of(output(dims.collect::<Option<Vec<_>>>().ok_or_else(wrong)?)?))
}

pub(super) fn pad(
    before: &[u32],
    after: &[u32],
    inputs: &[Operand<'_>],
    outputs: &[&Value],
) -> Result<Outcome, String> {
    one_type(MOVABLE, inputs, outputs)?;
    let shape = inputs[0].shape;
    if before.len() != shape.rank() || after.len() != shape.rank() {
        return Err(format!("pads the shape {shape} by {before:?} before and {after:?} after"));
    }
    let dims = shape.dims().iter().zip(before.iter().zip(after));
    Ok(Outcome::of(output(dims.map(|(&dim, (&before, &after))| dim + u64::from(before) + u64::from(after)))?))
}

pub(super) fn concatenate(axis: u32, inputs: &[Operand<'_>], outputs: &[&Value]) -> Result<Outcome, String> {
    one_type(MOVABLE, inputs, outputs)?;
    let axis = axis as usize;
    let first = inputs[0].shape.dims();
    if axis >= first.len() {
        return Err(format!("joins along dimension {axis}, of {}", first.len()));
    }
    let mut dims = first.to_vec();
    for other in &inputs[1..] {
        let other = other.shape.dims();
        let fits = other.len() == first.len()
            && other.iter().zip(first).enumerate().all(|(dim, (a, b))| dim == axis || a == b);
        if !fits {
            return Err(format!("can't join {other:?} to {first:?} along dimension {axis}"));
        }
        dims[axis] += other[axis];
    }
    Ok(Outcome::of(output(dims)?))
}

fn output(dims: impl IntoIterator<Item = u64>) -> Result<Shape, String> {
    Shape::new(dims).map_err(|what| format!("gives an output that {what}"))
}
