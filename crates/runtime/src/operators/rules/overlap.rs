//! Kernels that look at their inputs' elements first and rely on what they saw while they write: their output must not
//! change the inputs meanwhile.

use crate::file::{FileTensor, Storage};
use crate::operators::call::Call;
use std::ops::Range;

/// They check or count indices, or elements of a mask, before they write.
const OPERATORS: [&str; 24] = [
    "aten::gather.out",
    "aten::index.Tensor_out",
    "aten::index_put.out",
    "aten::index_put_",
    "aten::index_select.out",
    "aten::embedding.out",
    "aten::masked_scatter.out",
    "aten::masked_select.out",
    "aten::max_pool2d_with_indices_backward.grad_input",
    "aten::nonzero.out",
    "aten::repeat_interleave.Tensor_out",
    "aten::scatter.src_out",
    "aten::scatter.value_out",
    "aten::scatter_add.out",
    "nearside::attention.out",
    "nearside::embedding.out",
    "nearside::linear.out",
    "nearside::rotary_attention.out",
    "quantized_decomposed::embedding_2bit.dtype_out",
    "quantized_decomposed::embedding_2bit.out",
    "quantized_decomposed::embedding_4bit.dtype_out",
    "quantized_decomposed::embedding_4bit.out",
    "quantized_decomposed::embedding_byte.dtype_out",
    "quantized_decomposed::embedding_byte.out",
];

pub(super) fn check(operator: &str, call: &Call<'_>) -> Result<(), String> {
    if !OPERATORS.contains(&operator) {
        return Ok(());
    }
    for written in call.written_values() {
        for read in call.read_values() {
            if share_memory(call, written, read) {
                return Err(format!("it writes value {written}, which overlaps value {read} that it reads"));
            }
        }
    }
    Ok(())
}

fn share_memory(call: &Call<'_>, first: usize, second: usize) -> bool {
    let tensors =
        |value: usize| call.flow().memory_of(value).iter().filter_map(|&owner| call.value(owner).as_tensor());
    tensors(first).any(|a| tensors(second).any(|b| overlap(a, b)))
}

/// Only tensors in arenas can: what is in the file is never written, and the caller's inputs neither.
fn overlap(a: &FileTensor, b: &FileTensor) -> bool {
    let place = |tensor: &FileTensor| match tensor.storage {
        Storage::Planned { arena, offset, .. } => Some((arena, offset..offset.saturating_add(tensor.bytes))),
        _ => None,
    };
    let (Some((arena, a)), Some((other, b))) = (place(a), place(b)) else { return false };
    let meet = |a: &Range<u64>, b: &Range<u64>| a.start < b.end && b.start < a.end;
    arena == other && meet(&a, &b)
}
