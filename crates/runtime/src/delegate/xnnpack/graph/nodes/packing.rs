//! How much memory weights take as XNNPACK packs them: an estimate, since the layout depends on the processor.

use crate::delegate::xnnpack::graph::datatype::Datatype;
use crate::delegate::xnnpack::graph::values::{Quantisation, Value};

/// Output channels that kernels work on together, on most processors.
const CHANNELS_TOGETHER: u64 = 16;
/// Input channels that int8 kernels work on together.
const INPUTS_TOGETHER: u64 = 8;
/// Packed buffers are whole pages.
const PAGE: u64 = 4096;

/// Bytes of `groups` packed matrices of `outputs` rows and `inputs` elements a row.
pub(super) fn matrix(filter: &Value, activations: Datatype, groups: u64, outputs: u64, inputs: u64) -> u64 {
    let rows = outputs.next_multiple_of(CHANNELS_TOGETHER);
    let even = inputs.next_multiple_of(INPUTS_TOGETHER);
    let row = match (filter.datatype, filter.quantisation, activations) {
        // Weights, the sum of weights, a bias and scales.
        (Datatype::QbInt4, Quantisation::PerBlock { inputs: block }, _) => even / 2 + even / block * 2 + 8,
        (Datatype::QcInt4, ..) => even / 2 + 12,
        (Datatype::QcInt8, ..) => even + 12,
        (Datatype::QInt8 | Datatype::QUint8, ..) => even + 4,
        // f32 weights for f16 are packed as f16.
        (_, _, Datatype::F16) => inputs * 2 + 2,
        (datatype, ..) => inputs * datatype.bits() / 8 + 4,
    };
    pages(groups.saturating_mul(rows).saturating_mul(row))
}

/// Bytes of a packed filter that works on each channel by itself.
pub(super) fn channels(filter: &Value, activations: Datatype, channels: u64, taps: u64) -> u64 {
    let element = match (filter.datatype, activations) {
        (Datatype::F32, Datatype::F16) => 2,
        (datatype, _) => datatype.bits() / 8,
    };
    let extra = if filter.datatype == Datatype::F32 { element } else { 8 };
    let row = taps.saturating_mul(element).saturating_add(extra);
    pages(channels.next_multiple_of(CHANNELS_TOGETHER).saturating_mul(row))
}

fn pages(bytes: u64) -> u64 {
    bytes.checked_next_multiple_of(PAGE).unwrap_or(u64::MAX)
}
