//! Convolutions. Images are `[batch, height, width, channels]`; XNNPACK takes the filter's extents from the node's
//! parameters, not from the filter.

use super::linear::{bias_length, row_dims, scale_dims, weight_types};
use super::{Operand, Outcome, packing};
use crate::delegate::xnnpack::graph::datatype::Datatype::{self, *};
use crate::delegate::xnnpack::graph::shape::Shape;
use crate::delegate::xnnpack::graph::values::Value;
use crate::schema::xnnpack::fb_xnnpack::_XNNNodeConv;

/// Input, filter, bias and output that XNNPACK has kernels for and that exporters write.
const DEPTHWISE: &[[Datatype; 4]] = &[
    [F32, F32, F32, F32],
    [F16, F32, F32, F16],
    [QInt8, QInt8, QInt32, QInt8],
    [QInt8, QcInt8, QcInt32, QInt8],
];
const FULL: &[[Datatype; 4]] = &[
    [F32, F32, F32, F32],
    [F16, F32, F32, F16],
    [QInt8, QInt8, QInt32, QInt8],
    [QInt8, QcInt8, QcInt32, QInt8],
    [QdInt8, QcInt8, F32, F32],
];

/// Pixels that a kernel, a step or padding may have.
pub(super) const MAX_EXTENT: u64 = 1 << 20;
/// XNNPACK's numbers of channels and its sums of products are of 32 bits in places.
const MAX_CHANNELS: u64 = 1 << 24;

/// One direction, in pixels.
#[derive(Debug, Clone, Copy)]
struct Extent {
    before: u64,
    after: u64,
    kernel: u64,
    stride: u64,
    dilation: u64,
    /// Of a transposed convolution: pixels added to the output.
    adjustment: u64,
}

/// What a convolution node says of itself.
#[derive(Debug)]
pub(super) struct Parameters {
    extents: [Extent; 2],
    groups: u64,
    group_inputs: u64,
    group_outputs: u64,
}

impl Parameters {
    pub(super) fn read(table: _XNNNodeConv<'_>) -> Result<Self, String> {
        let extents = [
            Extent {
                before: table.padding_top().into(),
                after: table.padding_bottom().into(),
                kernel: table.kernel_height().into(),
                stride: table.subsampling_height().into(),
                dilation: table.dilation_height().into(),
                adjustment: table.adjustment_height().into(),
            },
            Extent {
                before: table.padding_left().into(),
                after: table.padding_right().into(),
                kernel: table.kernel_width().into(),
                stride: table.subsampling_width().into(),
                dilation: table.dilation_width().into(),
                adjustment: table.adjustment_width().into(),
            },
        ];
        for Extent { before, after, kernel, stride, dilation, .. } in extents {
            let steps = [kernel, stride, dilation];
            if !steps.iter().all(|step| (1..=MAX_EXTENT).contains(step)) || before.max(after) > MAX_EXTENT {
                return Err(format!(
                    "has kernel {kernel}, stride {stride}, dilation {dilation} and padding {before} and {after}"
                ));
            }
        }
        let parameters = Self {
            extents,
            groups: table.groups().into(),
            group_inputs: table.group_input_channels().into(),
            group_outputs: table.group_output_channels().into(),
        };
        let Self { groups, group_inputs, group_outputs, .. } = parameters;
        let channels = [groups, group_inputs, group_outputs, groups * group_inputs, groups * group_outputs];
        if channels.iter().any(|channels| !(1..=MAX_CHANNELS).contains(channels)) {
            return Err(format!(
                "has {groups} groups of {group_inputs} input and {group_outputs} output channels"
            ));
        }
        Ok(parameters)
    }

    fn kernel(&self) -> [u64; 2] {
        self.extents.map(|extent| extent.kernel)
    }

    /// Checks the filter's shape, the input's channels and the bias.
    fn check(
        &self,
        types: &[[Datatype; 4]],
        filter_shape: [u64; 4],
        scale_dim: usize,
        inputs: &[Operand<'_>],
        outputs: &[&Value],
    ) -> Result<[u64; 4], String> {
        weight_types(types, inputs, outputs)?;
        let (input, filter, bias) = (inputs[0], inputs[1], inputs.get(2));
        if !filter.value.is_constant() || bias.is_some_and(|bias| !bias.value.is_constant()) {
            return Err("has weights that are not constant".into());
        }
        if filter.shape.dims() != filter_shape {
            return Err(format!(
                "has a filter of shape {}, its parameters need {filter_shape:?}",
                filter.shape
            ));
        }
        bias_length(bias, self.groups * self.group_outputs)?;
        scale_dims(filter.value, scale_dim, bias)?;
        row_dims(input.value, 3)?;
        let image = input.shape.nhwc().map_err(|what| format!("takes an input that {what}"))?;
        if image[3] != self.groups * self.group_inputs {
            return Err(format!(
                "takes an input of shape {}, its parameters need {} channels",
                input.shape,
                self.groups * self.group_inputs
            ));
        }
        Ok(image)
    }

    /// The output's shape and the bytes of the table of addresses.
    fn output(
        &self,
        [batch, height, width, _]: [u64; 4],
        side: impl Fn(&Extent, u64) -> Option<u64>,
    ) -> Result<(Shape, u64), String> {
        let sides = (side(&self.extents[0], height), side(&self.extents[1], width));
        let (Some(out_height), Some(out_width)) = sides else {
            return Err(format!("has a kernel that is larger than its input of {height}x{width}"));
        };
        let shape = Shape::new([batch, out_height, out_width, self.groups * self.group_outputs])
            .map_err(|what| format!("gives an output that {what}"))?;
        let taps: u64 = self.kernel().iter().product();
        // XNNPACK rounds rows of pixels up to a kernel's.
        let addresses = (out_height * out_width + 16).saturating_mul(taps);
        Ok((shape, addresses.saturating_mul(size_of::<usize>() as u64)))
    }
}

/// How far the kernel reaches.
fn covered(extent: &Extent) -> u64 {
    (extent.kernel - 1) * extent.dilation + 1
}

fn forward_side(extent: &Extent, length: u64) -> Option<u64> {
    let left = (length + extent.before + extent.after).checked_sub(covered(extent))?;
    Some(left / extent.stride + 1)
}

/// The filter is `[outputs, height, width, inputs of a group]`.
pub(super) fn convolution(
    parameters: &Parameters,
    inputs: &[Operand<'_>],
    outputs: &[&Value],
) -> Result<Outcome, String> {
    let Parameters { groups, group_inputs, group_outputs, .. } = *parameters;
    let [height, width] = parameters.kernel();
    let filter_shape = [groups * group_outputs, height, width, group_inputs];
    let image = parameters.check(FULL, filter_shape, 0, inputs, outputs)?;
    let (shape, addresses) = parameters.output(image, forward_side)?;
    let (input, filter) = (inputs[0].value.datatype, inputs[1].value);
    let taps = height * width;
    let packed_bytes = packing::matrix(filter, input, groups, group_outputs, taps * group_inputs);
    let held_bytes = if taps == 1 { 0 } else { addresses };
    Ok(Outcome { held_bytes, packed_bytes, ..Outcome::of(shape) })
}

/// Each input channel is a group. The filter is `[1, height, width, outputs]`.
pub(super) fn depthwise(
    parameters: &Parameters,
    inputs: &[Operand<'_>],
    outputs: &[&Value],
) -> Result<Outcome, String> {
    let Parameters { groups, group_inputs, group_outputs, .. } = *parameters;
    if group_inputs != 1 {
        return Err(format!("has {group_inputs} input channels a group, it needs 1"));
    }
    let [height, width] = parameters.kernel();
    let channels = groups * group_outputs;
    let filter_shape = [1, height, width, channels];
    let image = parameters.check(DEPTHWISE, filter_shape, 3, inputs, outputs)?;
    let (shape, held_bytes) = parameters.output(image, forward_side)?;
    let packed_bytes = packing::channels(inputs[1].value, inputs[0].value.datatype, channels, height * width);
    Ok(Outcome { held_bytes, packed_bytes, ..Outcome::of(shape) })
}

/// The filter is `[outputs, height, width, inputs of a group]`.
pub(super) fn transposed(
    parameters: &Parameters,
    inputs: &[Operand<'_>],
    outputs: &[&Value],
) -> Result<Outcome, String> {
    let Parameters { groups, group_inputs, group_outputs, .. } = *parameters;
    let [height, width] = parameters.kernel();
    let filter_shape = [groups * group_outputs, height, width, group_inputs];
    let image = parameters.check(FULL, filter_shape, 0, inputs, outputs)?;
    for Extent { adjustment, stride, .. } in parameters.extents {
        if adjustment >= stride {
            return Err(format!("adds {adjustment} pixels to its output, it moves by {stride}"));
        }
    }
    let backward_side = |extent: &Extent, length: u64| {
        let full = (length - 1) * extent.stride + extent.adjustment + covered(extent);
        full.checked_sub(extent.before + extent.after).filter(|&side| side > 0)
    };
    let (shape, held_bytes) = parameters.output(image, backward_side)?;
    let (input, filter) = (inputs[0].value.datatype, inputs[1].value);
    let packed_bytes = packing::matrix(filter, input, groups, group_outputs, height * width * group_inputs);
    Ok(Outcome { held_bytes, packed_bytes, ..Outcome::of(shape) })
}
