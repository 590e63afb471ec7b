//! Pooling over a window that slides, and over whole images.

use super::convolution::MAX_EXTENT;
use super::elementwise::{FLOAT, FLOAT_OR_INT8};
use super::{Operand, Outcome, one_type, output_names, type_names};
use crate::delegate::xnnpack::graph::datatype::Datatype;
use crate::delegate::xnnpack::graph::shape::Shape;
use crate::delegate::xnnpack::graph::values::Value;
use crate::schema::xnnpack::fb_xnnpack::{_XNNPooling2D, XNNArgMaxPooling2d};

/// One direction of a window, in pixels.
#[derive(Debug, Clone, Copy)]
struct Extent {
    before: u64,
    after: u64,
    size: u64,
    stride: u64,
    dilation: u64,
}

/// A window's height and width.
#[derive(Debug, Clone, Copy)]
pub(super) struct Window([Extent; 2]);

impl Window {
    pub(super) fn read(table: _XNNPooling2D<'_>) -> Result<Self, String> {
        // Without dilation, as average pooling, files have 0.
        let dilation = |dilation: u32| u64::from(dilation.max(1));
        Self::checked([
            Extent {
                before: table.padding_top().into(),
                after: table.padding_bottom().into(),
                size: table.pooling_height().into(),
                stride: table.stride_height().into(),
                dilation: dilation(table.dilation_height()),
            },
            Extent {
                before: table.padding_left().into(),
                after: table.padding_right().into(),
                size: table.pooling_width().into(),
                stride: table.stride_width().into(),
                dilation: dilation(table.dilation_width()),
            },
        ])
    }

    pub(super) fn read_arg_max(table: XNNArgMaxPooling2d<'_>) -> Result<Self, String> {
        let extent = |before: u32, after: u32, size: u32| Extent {
            before: before.into(),
            after: after.into(),
            size: size.into(),
            stride: size.into(),
            dilation: 1,
        };
        Self::checked([
            extent(table.padding_top(), table.padding_bottom(), table.pooling_height()),
            extent(table.padding_left(), table.padding_right(), table.pooling_width()),
        ])
    }

    fn checked(extents: [Extent; 2]) -> Result<Self, String> {
        for Extent { before, after, size, stride, dilation } in extents {
            if ![size, stride, dilation].iter().all(|step| (1..=MAX_EXTENT).contains(step)) {
                return Err(format!(
                    "has a window of {size} pixels, {dilation} apart, that moves by {stride}"
                ));
            }
            // A window that sees padding only has nothing to pool. Rounding up adds less than a stride.
            let covered = (size - 1) * dilation + 1;
            if before >= covered || after >= covered + stride {
                return Err(format!(
                    "pads by {before} before and {after} after, more than its window of {covered} pixels"
                ));
            }
        }
        Ok(Self(extents))
    }

    /// The output's shape for a batch of images, and the bytes of addresses that XNNPACK keeps for it.
    fn slide(&self, input: &Shape) -> Result<(Shape, u64), String> {
        let [batch, height, width, channels] =
            input.nhwc().map_err(|what| format!("takes an input that {what}"))?;
        let side = |extent: &Extent, length: u64| {
            let padded = length + extent.before + extent.after;
            let covered = (extent.size - 1) * extent.dilation + 1;
            padded.checked_sub(covered).map(|left| left / extent.stride + 1)
        };
        let (Some(out_height), Some(out_width)) = (side(&self.0[0], height), side(&self.0[1], width)) else {
            return Err(format!("has a window that is larger than its input of shape {input}"));
        };
        let shape = Shape::new([batch, out_height, out_width, channels])
            .map_err(|what| format!("gives an output that {what}"))?;
        let window = self.0[0].size.saturating_mul(self.0[1].size);
        let addresses = window.saturating_mul(out_height * out_width).saturating_add(window);
        Ok((shape, addresses.saturating_mul(size_of::<usize>() as u64)))
    }
}

pub(super) fn max(window: &Window, inputs: &[Operand<'_>], outputs: &[&Value]) -> Result<Outcome, String> {
    one_type(FLOAT_OR_INT8, inputs, outputs)?;
    let (shape, held_bytes) = window.slide(inputs[0].shape)?;
    Ok(Outcome { held_bytes, ..Outcome::of(shape) })
}

pub(super) fn average(
    window: &Window,
    inputs: &[Operand<'_>],
    outputs: &[&Value],
) -> Result<Outcome, String> {
    one_type(FLOAT, inputs, outputs)?;
    // XNNPACK keeps addresses for the rows at the top and at the bottom. With many more of these than rows in all, it
    // would take rows from beyond the input's end.
    let Extent { before, after, stride, .. } = window.0[0];
    if after.div_ceil(stride) > before.div_ceil(stride) + 1 {
        return Err(format!("pads by {before} rows at the top and {after} at the bottom"));
    }
    let (shape, held_bytes) = window.slide(inputs[0].shape)?;
    Ok(Outcome { held_bytes, ..Outcome::of(shape) })
}

/// Gives the largest values and, as int32, where in the window they were.
pub(super) fn arg_max(
    window: &Window,
    inputs: &[Operand<'_>],
    outputs: &[&Value],
) -> Result<Outcome, String> {
    let types = [inputs[0].value.datatype, outputs[0].datatype, outputs[1].datatype];
    if types != [Datatype::F32, Datatype::F32, Datatype::I32] {
        return Err(format!("can't go from {} to {}", type_names(inputs), output_names(outputs)));
    }
    let (shape, held_bytes) = window.slide(inputs[0].shape)?;
    Ok(Outcome { shapes: vec![shape.clone(), shape], held_bytes, ..Outcome::default() })
}

/// The mean over height and width.
pub(super) fn global_average(inputs: &[Operand<'_>], outputs: &[&Value]) -> Result<Outcome, String> {
    one_type(FLOAT_OR_INT8, inputs, outputs)?;
    let [batch, _, _, channels] =
        inputs[0].shape.nhwc().map_err(|what| format!("takes an input that {what}"))?;
    let shape = Shape::new([batch, 1, 1, channels])?;
    // Sums of 16 bits and less are kept wider.
    let scratch_bytes = shape.bytes(32);
    Ok(Outcome { scratch_bytes, ..Outcome::of(shape) })
}
