//! Bilinear resize.

use super::elementwise::FLOAT_OR_INT8;
use super::{Operand, Outcome, one_type};
use crate::delegate::xnnpack::graph::shape::Shape;
use crate::delegate::xnnpack::graph::values::Value;

/// XNNPACK keeps 4 addresses and 2 weights of 4 bytes an output pixel.
const PIXEL_BYTES: u64 = 40;
/// XNNPACK computes positions in f32, whose integers end here.
const MAX_SIDE: u64 = 1 << 24;

pub(super) fn bilinear(
    size: [u32; 2],
    inputs: &[Operand<'_>],
    outputs: &[&Value],
) -> Result<Outcome, String> {
    one_type(FLOAT_OR_INT8, inputs, outputs)?;
    let [batch, height, width, channels] =
        inputs[0].shape.nhwc().map_err(|what| format!("takes an input that {what}"))?;
    let [new_height, new_width] = size.map(u64::from);
    if [height, width, new_height, new_width].iter().any(|side| !(1..MAX_SIDE).contains(side)) {
        return Err(format!("resizes {height}x{width} to {new_height}x{new_width}"));
    }
    let shape = Shape::new([batch, new_height, new_width, channels])
        .map_err(|what| format!("gives an output that {what}"))?;
    let held_bytes = new_height * new_width * PIXEL_BYTES;
    Ok(Outcome { held_bytes, ..Outcome::of(shape) })
}
