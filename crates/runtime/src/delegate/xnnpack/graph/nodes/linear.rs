//! Matrix products: by weights and between activations.

use super::{Operand, Outcome, one_type, output_names, packing, type_names};
use crate::delegate::xnnpack::graph::datatype::Datatype::{self, *};
use crate::delegate::xnnpack::graph::nodes::elementwise::FLOAT;
use crate::delegate::xnnpack::graph::shape::Shape;
use crate::delegate::xnnpack::graph::values::{Quantisation, Value};

/// Input, filter, bias and output that XNNPACK has kernels for and that exporters write.
const FULLY_CONNECTED: &[[Datatype; 4]] = &[
    [F32, F32, F32, F32],
    [F16, F16, F16, F16],
    [F16, F16, F32, F16],
    [F16, F32, F32, F16],
    [Bf16, Bf16, F32, F32],
    // ExecuTorch adds a conversion of the f32 that comes out.
    [Bf16, Bf16, F32, Bf16],
    // Weights alone in integers.
    [F32, QcInt8, F32, F32],
    [QInt8, QInt8, QInt32, QInt8],
    [QInt8, QcInt8, QcInt32, QInt8],
    [QdInt8, QcInt8, F32, F32],
    [QdInt8, QcInt8, F32, F16],
    [QdInt8, QcInt4, F32, F32],
    [QdInt8, QcInt4, F32, F16],
    [QdInt8, QbInt4, F32, F32],
    [QdInt8, QbInt4, F32, F16],
    [QdInt8, QbInt4, F32, Bf16],
];

/// Checks the types of input, filter, bias (if any) and output against `allowed`.
pub(super) fn weight_types(
    allowed: &[[Datatype; 4]],
    inputs: &[Operand<'_>],
    outputs: &[&Value],
) -> Result<(), String> {
    let types: Vec<_> = inputs.iter().map(|input| input.value.datatype).collect();
    let fits = |row: &[Datatype; 4]| row[..types.len()] == types[..] && row[3] == outputs[0].datatype;
    if allowed.iter().any(fits) {
        return Ok(());
    }
    Err(format!("can't go from {} to {}", type_names(inputs), output_names(outputs)))
}

/// Checks that `bias`, if there is any, has an element for each of `outputs`.
pub(super) fn bias_length(bias: Option<&Operand<'_>>, outputs: u64) -> Result<(), String> {
    match bias {
        Some(bias) if bias.shape.elements() != outputs => {
            Err(format!("has a bias of shape {} for {outputs} output channels", bias.shape))
        }
        _ => Ok(()),
    }
}

/// Checks that scales a channel, of filter and bias, are along the output channels.
pub(super) fn scale_dims(
    filter: &Value,
    filter_dim: usize,
    bias: Option<&Operand<'_>>,
) -> Result<(), String> {
    let along = |value: &Value, wanted: usize| match value.quantisation {
        Quantisation::PerChannel { dim, .. } => dim == wanted,
        _ => true,
    };
    if along(filter, filter_dim) && bias.is_none_or(|bias| along(bias.value, 0)) {
        return Ok(());
    }
    Err("has weights whose scales are not along the output channels".into())
}

/// Checks that the rows that are quantised as they come are no longer than `dims` dimensions: the node reads a scale a row.
pub(super) fn row_dims(input: &Value, dims: usize) -> Result<(), String> {
    match input.quantisation {
        Quantisation::PerRow { dims: found } if found > dims => {
            Err(format!("takes an input with a scale for each {found} dimensions, the node needs {dims}"))
        }
        _ => Ok(()),
    }
}

/// The input times the filter, `[outputs, inputs]` or, transposed, `[inputs, outputs]`, plus the bias.
pub(super) fn fully_connected(
    transposed: bool,
    inputs: &[Operand<'_>],
    outputs: &[&Value],
) -> Result<Outcome, String> {
    weight_types(FULLY_CONNECTED, inputs, outputs)?;
    let (input, filter, bias) = (inputs[0], inputs[1], inputs.get(2));
    let &[first, second] = filter.shape.dims() else {
        return Err(format!("has a filter of shape {}, it needs 2 dimensions", filter.shape));
    };
    let (columns, rows) = if transposed { (first, second) } else { (second, first) };
    if input.shape.rank() == 0 || input.shape.last() != columns {
        return Err(format!("has a filter for {columns} inputs, its input has the shape {}", input.shape));
    }
    bias_length(bias, rows)?;
    let constant = filter.value.is_constant() && bias.is_none_or(|bias| bias.value.is_constant());
    let float = matches!(filter.value.datatype, F32 | F16);
    if transposed && !float {
        return Err(format!("has a transposed filter of type {}", filter.value.datatype));
    }
    if !constant {
        let types = inputs.iter().map(|input| input.value.datatype);
        if !float || !types.clone().eq(std::iter::repeat_n(filter.value.datatype, inputs.len())) {
            return Err("has weights that are not constant, which only fp32 and fp16 can be".into());
        }
        // XNNPACK takes its length on trust in every run.
        if bias.is_some_and(|bias| !bias.fixed) {
            return Err("has a bias whose length may change".into());
        }
    }
    scale_dims(filter.value, 0, bias)?;
    row_dims(input.value, 1)?;
    let batch = input.shape.elements() / columns;
    let leading = input.shape.dims()[..input.shape.rank() - 1].iter().copied();
    let shape = Shape::new(leading.chain([rows])).map_err(|what| format!("gives an output that {what}"))?;
    let packed = packing::matrix(filter.value, input.value.datatype, 1, rows, columns);
    let wide = if outputs[0].datatype == Bf16 { batch.saturating_mul(rows * 4) } else { 0 };
    let (packed_bytes, scratch_bytes) = if constant { (packed, wide) } else { (0, packed) };
    Ok(Outcome { packed_bytes, scratch_bytes, ..Outcome::of(shape) })
}

/// `[…, m, k]` times `[…, k, n]`, with the leading dimensions broadcast.
pub(super) fn batch_matrix_multiply(inputs: &[Operand<'_>], outputs: &[&Value]) -> Result<Outcome, String> {
    let datatype = one_type(FLOAT, inputs, outputs)?;
    let (left, right) = (inputs[0].shape, inputs[1].shape);
    let fits = left.rank() >= 2 && right.rank() >= 2 && left.last() == right.dims()[right.rank() - 2];
    if !fits {
        return Err(format!("can't multiply {left} by {right}"));
    }
    let leading = |shape: &Shape| Shape::new(shape.dims()[..shape.rank() - 2].iter().copied());
    let batch = leading(left)?.broadcast(&leading(right)?)?;
    let (rows, columns) = (left.dims()[left.rank() - 2], right.last());
    let shape = Shape::new(batch.dims().iter().copied().chain([rows, columns]))
        .map_err(|what| format!("gives an output that {what}"))?;
    let right_batch = right.elements() / (columns * left.last());
    let packed = packing::matrix(inputs[1].value, datatype, right_batch, columns, left.last());
    let constant = inputs[1].value.is_constant();
    let (packed_bytes, scratch_bytes) = if constant { (packed, 0) } else { (0, packed) };
    Ok(Outcome { packed_bytes, scratch_bytes, ..Outcome::of(shape) })
}
