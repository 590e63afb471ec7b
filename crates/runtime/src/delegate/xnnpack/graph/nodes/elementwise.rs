//! Nodes that work on each element by itself, and softmax.

use super::{Operand, Outcome, one_type};
use crate::delegate::xnnpack::graph::datatype::Datatype;
use crate::delegate::xnnpack::graph::values::Value;

pub(super) const FLOAT: &[Datatype] = &[Datatype::F32, Datatype::F16];
pub(super) const FLOAT_OR_INT8: &[Datatype] =
    &[Datatype::F32, Datatype::F16, Datatype::QInt8, Datatype::QUint8];
pub(super) const CLAMP: &[Datatype] = FLOAT_OR_INT8;

pub(super) fn unary(
    types: &[Datatype],
    inputs: &[Operand<'_>],
    outputs: &[&Value],
) -> Result<Outcome, String> {
    one_type(types, inputs, outputs)?;
    Ok(Outcome::of(inputs[0].shape.clone()))
}

pub(super) fn binary(
    types: &[Datatype],
    inputs: &[Operand<'_>],
    outputs: &[&Value],
) -> Result<Outcome, String> {
    one_type(types, inputs, outputs)?;
    Ok(Outcome::of(inputs[0].shape.broadcast(inputs[1].shape)?))
}

/// Where one input is a constant number, XNNPACK makes a range of it, without looking whether it is a number at all.
pub(super) fn extreme(inputs: &[Operand<'_>], outputs: &[&Value]) -> Result<Outcome, String> {
    let is_number = |input: &Operand<'_>| input.value.is_constant() && input.shape.elements() == 1;
    if inputs.iter().any(is_number) {
        return Err("takes a constant number, where a range belongs".into());
    }
    binary(FLOAT, inputs, outputs)
}

/// Over the last dimension.
pub(super) fn softmax(inputs: &[Operand<'_>], outputs: &[&Value]) -> Result<Outcome, String> {
    one_type(FLOAT, inputs, outputs)?;
    if inputs[0].shape.rank() == 0 {
        return Err("takes at least one dimension".into());
    }
    Ok(Outcome::of(inputs[0].shape.clone()))
}
