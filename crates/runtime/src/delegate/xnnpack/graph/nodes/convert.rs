//! From one type to another.

use super::{Operand, Outcome, output_names, type_names};
use crate::delegate::xnnpack::graph::datatype::Datatype::{self, *};
use crate::delegate::xnnpack::graph::values::Value;

/// The pairs that ExecuTorch's exporter writes and XNNPACK has kernels for.
const PAIRS: &[(Datatype, Datatype)] = &[
    (F32, F16),
    (F16, F32),
    (F32, Bf16),
    (Bf16, F32),
    (F32, QInt8),
    (QInt8, F32),
    (F16, QInt8),
    (QInt8, F16),
    (QInt8, QInt8),
    (F32, QUint8),
    (QUint8, F32),
    (QUint8, QUint8),
    (F32, QdInt8),
    (F16, QdInt8),
];

pub(super) fn convert(inputs: &[Operand<'_>], outputs: &[&Value]) -> Result<Outcome, String> {
    if !PAIRS.contains(&(inputs[0].value.datatype, outputs[0].datatype)) {
        return Err(format!("can't go from {} to {}", type_names(inputs), output_names(outputs)));
    }
    Ok(Outcome::of(inputs[0].shape.clone()))
}
