//! The values of a graph: tensors that come in, go out, are constant or live between nodes.

use super::constants::Constants;
use super::datatype::Datatype;
use super::shape::Shape;
use crate::schema::xnnpack::fb_xnnpack::{
    XNNDatatype, XNNQuantParams, XNNQuantizedTensorValue, XNNTensorValue, XValue,
};

/// XNNPACK's id for "none": no bias, no external id.
pub(super) const NO_ID: u32 = u32::MAX;
const EXTERNAL_INPUT: u32 = 1;
const EXTERNAL_OUTPUT: u32 = 2;
/// XNNPACK's kernels for blocks work in steps of this many input channels.
const BLOCK_STEP: i32 = 32;

/// One value, checked by itself.
#[derive(Debug)]
pub(super) struct Value {
    pub(super) id: u32,
    pub(super) datatype: Datatype,
    /// The shape in the file: of a constant the true one, else that at the upper bound.
    pub(super) shape: Shape,
    pub(super) place: Place,
    pub(super) quantisation: Quantisation,
}

/// Where a value lives.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Place {
    /// Argument of the delegate call, by position.
    Input(usize),
    /// Argument of the delegate call, by position.
    Output(usize),
    /// Of so many bytes, scales included.
    Constant(u64),
    Between,
}

/// How numbers are told from a value's bits.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) enum Quantisation {
    Not,
    PerTensor {
        scale: f32,
        zero_point: i32,
    },
    /// `largest` is the largest scale.
    PerChannel {
        dim: usize,
        largest: f32,
    },
    PerBlock {
        inputs: u64,
    },
    /// Each row of the last so many dimensions has its own scale, found as it comes.
    PerRow {
        dims: usize,
    },
}

impl Value {
    /// Reads and checks one value.
    ///
    /// # Errors
    /// One sentence that begins with the value.
    pub(super) fn read(index: usize, value: XValue<'_>, constants: &Constants<'_>) -> Result<Self, String> {
        let quantised = value.xvalue_union_as_xnnquantized_tensor_value();
        let tensor = match quantised {
            Some(quantised) => quantised.tensor_value(),
            None => value.xvalue_union_as_xnntensor_value(),
        };
        let tensor = tensor.ok_or_else(|| format!("value {index} is no tensor: it needs a newer XNNPACK"))?;
        read(tensor, quantised, constants)
            .map_err(|what| format!("value {index} (id {}) {what}", tensor.id_out()))
    }

    pub(super) fn is_constant(&self) -> bool {
        matches!(self.place, Place::Constant(_))
    }

    /// The largest scale, of values that are quantised ahead of time.
    pub(super) fn largest_scale(&self) -> Option<f32> {
        match self.quantisation {
            Quantisation::PerTensor { scale, .. } => Some(scale),
            Quantisation::PerChannel { largest, .. } => Some(largest),
            _ => None,
        }
    }

    /// Bytes that this value takes while it lives, at the shape given.
    pub(super) fn bytes(&self, shape: &Shape) -> u64 {
        let rows = match self.quantisation {
            Quantisation::PerRow { dims } => shape.elements() / shape.inner(dims),
            _ => 0,
        };
        // A row's zero point and scale, and its sum.
        shape.bytes(self.datatype.bits()) + rows * 12
    }
}

fn read(
    tensor: XNNTensorValue<'_>,
    quantised: Option<XNNQuantizedTensorValue<'_>>,
    constants: &Constants<'_>,
) -> Result<Value, String> {
    if tensor.id_out() == NO_ID {
        return Err("has the id that stands for none".into());
    }
    let datatype = Datatype::read(tensor.datatype())?;
    let dims = tensor.dims();
    if dims.map_or(0, |dims| dims.len()) != tensor.num_dims() as usize {
        return Err(format!(
            "claims {} dimensions and lists {}",
            tensor.num_dims(),
            dims.map_or(0, |dims| dims.len())
        ));
    }
    let shape = Shape::new(dims.into_iter().flatten().map(u64::from))?;
    if tensor.dq_datatype() != XNNDatatype::xnn_datatype_invalid {
        return Err("is quantised in the way of ExecuTorch before 0.2: export the model again".into());
    }
    let (quantisation, scale_bytes) = quantisation(datatype, &shape, quantised, constants)?;
    let place = match (tensor.constant_buffer_idx(), tensor.flags(), tensor.external_id()) {
        (0, 0, NO_ID) => Place::Between,
        (0, EXTERNAL_INPUT, id) if id != NO_ID => Place::Input(id as usize),
        (0, EXTERNAL_OUTPUT, id) if id != NO_ID => Place::Output(id as usize),
        (index, 0, NO_ID) => {
            let found = constants.find(index, datatype.bits().div_ceil(8))?.bytes();
            let needed = constant_bytes(datatype, &shape);
            if found < needed {
                return Err(format!(
                    "of type {datatype} and shape {shape} needs {needed} constant bytes, there are {found}"
                ));
            }
            Place::Constant(needed + scale_bytes)
        }
        (constant, flags, id) => {
            return Err(format!(
                "has the flags {flags:#x} with external id {id} and constant {constant}, which do not go together"
            ));
        }
    };
    let constant = matches!(place, Place::Constant(_));
    if constant && datatype == Datatype::QdInt8 {
        return Err("is constant, yet quantised as it comes".into());
    }
    if !constant && (datatype.is_per_channel() || matches!(datatype, Datatype::QbInt4 | Datatype::QInt32)) {
        return Err(format!("of type {datatype} is not constant"));
    }
    Ok(Value { id: tensor.id_out(), datatype, shape, place, quantisation })
}

/// Bytes that XNNPACK reads. Rows of 4-bit elements begin at whole bytes.
fn constant_bytes(datatype: Datatype, shape: &Shape) -> u64 {
    match datatype {
        Datatype::QcInt4 | Datatype::QbInt4 => shape.elements() / shape.last() * shape.last().div_ceil(2),
        _ => shape.bytes(datatype.bits()),
    }
}

/// The quantisation, checked against type and shape, and the bytes of scales that XNNPACK reads.
fn quantisation(
    datatype: Datatype,
    shape: &Shape,
    quantised: Option<XNNQuantizedTensorValue<'_>>,
    constants: &Constants<'_>,
) -> Result<(Quantisation, u64), String> {
    let Some(quantised) = quantised else {
        return match datatype {
            Datatype::F32 | Datatype::F16 | Datatype::Bf16 | Datatype::I32 => Ok((Quantisation::Not, 0)),
            _ => Err(format!("of type {datatype} has no scale")),
        };
    };
    let mismatch = |how: &str| Err(format!("of type {datatype} has a scale {how}"));
    let no_table = || "has no scale".to_owned();
    match quantised.quant_params_type() {
        XNNQuantParams::PerTensorQuant => {
            let table = quantised.quant_params_as_per_tensor_quant().ok_or_else(no_table)?;
            if !datatype.is_per_tensor() {
                return mismatch("a tensor");
            }
            let (scale, zero_point) = (table.scale(), table.zero_point());
            check_scale(scale)?;
            let allowed = match datatype {
                Datatype::QInt8 => -128..=127,
                Datatype::QUint8 => 0..=255,
                _ => 0..=0,
            };
            if !allowed.contains(&zero_point) {
                return Err(format!("of type {datatype} has the zero point {zero_point}"));
            }
            Ok((Quantisation::PerTensor { scale, zero_point }, 0))
        }
        XNNQuantParams::PerChannelQuant => {
            let table = quantised.quant_params_as_per_channel_quant().ok_or_else(no_table)?;
            if !datatype.is_per_channel() {
                return mismatch("a channel");
            }
            let dim = usize::try_from(table.channel_dim()).ok().filter(|&dim| dim < shape.rank());
            let dim = dim.ok_or_else(|| {
                format!("has a scale a channel of dimension {}, of {}", table.channel_dim(), shape.rank())
            })?;
            let count = shape.dims()[dim];
            let inline = table.scale().map(|scale| scale.into_iter());
            // ExecuTorch reads the flatbuffer's list even where a constant replaces it.
            let inline = inline.ok_or("has no list of scales, not even an empty one")?;
            let largest = match table.scale_buffer_idx() {
                0 => check_scales(inline, count)?,
                index => {
                    check_count(table.num_scales().into(), count)?;
                    let constant = constants.find(index, 4)?;
                    check_count(constant.bytes() / 4, count)?;
                    match constants.read(constant, count * 4) {
                        Some(data) => {
                            let (scales, _) = data.as_chunks::<4>();
                            check_scales(scales.iter().map(|scale| f32::from_le_bytes(*scale)), count)?
                        }
                        None => 0.0,
                    }
                }
            };
            Ok((Quantisation::PerChannel { dim, largest }, count * 4))
        }
        XNNQuantParams::PerChannelGroupQuant => {
            let table = quantised.quant_params_as_per_channel_group_quant().ok_or_else(no_table)?;
            if datatype != Datatype::QbInt4 {
                return mismatch("a block");
            }
            if table.channel_dim() != 0 || shape.rank() != 2 {
                return Err(format!(
                    "of shape {shape} has a scale a block along dimension {}; blocks need [outputs, inputs] along 0",
                    table.channel_dim()
                ));
            }
            let (group, inputs) = (table.group_size(), shape.last());
            if group <= 0 || group % BLOCK_STEP != 0 || !inputs.is_multiple_of(group as u64) {
                return Err(format!(
                    "has blocks of {group} of {inputs} inputs; they must divide these and be a multiple of {BLOCK_STEP}"
                ));
            }
            let count = shape.elements() / group as u64;
            match table.scale_buffer_idx() {
                0 => {
                    let inline = table.scale().map(|scale| scale.into_iter()).ok_or_else(no_table)?;
                    check_scales(inline, count)?;
                }
                index => {
                    // XNNPACK looks at these itself before it uses any.
                    check_count(table.num_scales().into(), count)?;
                    check_count(constants.find(index, 2)?.bytes() / 2, count)?;
                }
            }
            Ok((Quantisation::PerBlock { inputs: group as u64 }, count * 2))
        }
        XNNQuantParams::PerTokenDynamicQuant => {
            let table = quantised.quant_params_as_per_token_dynamic_quant().ok_or_else(no_table)?;
            if datatype != Datatype::QdInt8 {
                return mismatch("a row");
            }
            let dims = usize::try_from(table.num_nonbatch_dims()).ok();
            let dims = dims.filter(|dims| (1..=shape.rank()).contains(dims)).ok_or_else(|| {
                format!("has rows of {} dimensions, of {}", table.num_nonbatch_dims(), shape.rank())
            })?;
            Ok((Quantisation::PerRow { dims }, 0))
        }
        other => Err(format!("has the unknown quantisation {}: it needs a newer XNNPACK", other.0)),
    }
}

/// XNNPACK wants normal, positive scales.
fn check_scale(scale: f32) -> Result<(), String> {
    if scale > 0.0 && scale.is_normal() { Ok(()) } else { Err(format!("has the scale {scale}")) }
}

/// Checks all `scales`, of which there must be `count`, and gives the largest.
fn check_scales(scales: impl ExactSizeIterator<Item = f32>, count: u64) -> Result<f32, String> {
    if scales.len() as u64 != count {
        return Err(format!("has {} scales, it needs {count}", scales.len()));
    }
    let mut largest = 0.0;
    for scale in scales {
        check_scale(scale)?;
        largest = f32::max(largest, scale);
    }
    Ok(largest)
}

fn check_count(found: u64, needed: u64) -> Result<(), String> {
    if found < needed { Err(format!("has {found} scales, it needs {needed}")) } else { Ok(()) }
}
