//! Calls of operators for the benchmark, which is outside of this crate.

use super::instruction_set::InstructionSet;
use super::{gated, rms_norm, rotary_attention};
use crate::bridge::ffi;
use crate::tensor::DType;

/// A layer between its projections, whose cache holds something everywhere.
#[derive(Debug)]
pub struct Layer {
    sizes: [usize; 4],
    dtype: DType,
    /// Keys and values; 8 bytes each, so that they are aligned.
    caches: [Vec<u64>; 2],
}

/// What goes into layers and comes out, in the same places for all of them.
#[derive(Debug, Default)]
pub struct Rows {
    qkv: Vec<f32>,
    table: Vec<f32>,
    positions: Vec<i64>,
    out: Vec<f32>,
}

impl Layer {
    /// With `[H, KV, D, C]` and a cache of f32, f16 or u8.
    pub fn new(sizes: [usize; 4], dtype: DType) -> Self {
        let [_, key_heads, dim, slots] = sizes;
        let row = if dtype == DType::U8 { dim + 4 } else { dim };
        let bytes = key_heads * slots * row * dtype.element_bytes().unwrap_or(1);
        // As floats of either length they are small numbers, and as bytes small ones too.
        let caches = [(); 2].map(|()| vec![0x2c13_2c05_2bf1_2c0b_u64; bytes.div_ceil(8)]);
        Self { sizes, dtype, caches }
    }

    /// Bytes of its caches up to a context.
    pub fn bytes(&self, context: usize) -> usize {
        let slots = self.sizes[3];
        self.caches.iter().map(|cache| cache.len() * 8 / slots * context).sum()
    }

    /// Attends for `count` rows from `position` on, with the instructions of that name, or the best ones.
    ///
    /// # Errors
    /// If the call does not fit, or there is no such instruction set here.
    pub fn run(
        &mut self,
        rows: &mut Rows,
        count: usize,
        position: usize,
        instructions: Option<&str>,
    ) -> Result<(), String> {
        let Rows { qkv, table, positions, out } = rows;
        let rows = count;
        let set = named(instructions)?;
        let [heads, key_heads, dim, slots] = self.sizes;
        let width = (heads + 2 * key_heads) * dim;
        if out.len() != rows * heads * dim {
            *qkv = (0..rows * width).map(|at| (at as f32 * 0.7).sin()).collect();
            *table = (0..rows * dim).map(|at| (at as f32 * 0.3).cos()).collect();
            *out = vec![0.0; rows * heads * dim];
        }
        positions.clear();
        positions.extend((position..position + rows).map(|at| at as i64));
        let row = if self.dtype == DType::U8 { dim + 4 } else { dim };
        let cache_sizes = [key_heads, slots, row].map(|size| size as i32);
        let bytes = key_heads * slots * row * self.dtype.element_bytes().unwrap_or(1);
        let [keys, values] =
            self.caches.each_mut().map(|cache| tensor(self.dtype, &cache_sizes, cache, bytes));
        let absent = || ffi::KernelTensor { given: false, ..tensor::<f32>(DType::F32, &[], &mut [], 0) };
        let (rows, heads) = (rows as i32, heads as i32);
        let (qkv_sizes, table_sizes) = ([1, rows, width as i32], [rows, dim as i32]);
        let (position_sizes, out_sizes) = ([rows], [1, rows, heads * dim as i32]);
        let call = ffi::RotaryAttentionCall {
            qkv: floats(&qkv_sizes, qkv),
            query_norm: absent(),
            key_norm: absent(),
            eps: 1e-6,
            table: floats(&table_sizes, table),
            key_cache: keys,
            value_cache: values,
            cache_position: tensor(DType::I64, &position_sizes, positions, rows as usize * 8),
            visible_until: absent(),
            heads: heads.into(),
            scale: 0.125,
            window: 0,
            out: floats(&out_sizes, out),
        };
        // SAFETY: all tensors are owned and none is used meanwhile.
        unsafe { rotary_attention::run_with(&call, set, None) }
    }
}

/// Normalises rows of as many elements as `weight` has.
///
/// # Errors
/// If the call does not fit.
pub fn normalise(x: &mut [f32], weight: &mut [f32], out: &mut [f32]) -> Result<(), String> {
    let (dim, rows) = (weight.len() as i32, (x.len() / weight.len()) as i32);
    let (sizes, weight_sizes) = ([1, rows, dim], [dim]);
    let call = ffi::RmsNormCall {
        x: floats(&sizes, x),
        weight: floats(&weight_sizes, weight),
        eps: 1e-6,
        out: floats(&sizes, out),
    };
    // SAFETY: all tensors are borrowed and none is used meanwhile.
    unsafe { rms_norm::run(&call) }
}

/// Activates rows of `width` gates and as many others, with `silu` or `gelu_tanh`.
///
/// # Errors
/// If the call does not fit.
pub fn activate(x: &mut [f32], width: usize, activation: &str, out: &mut [f32]) -> Result<(), String> {
    let (columns, rows) = (width as i32, (x.len() / (2 * width)) as i32);
    let (sizes, out_sizes) = ([1, rows, 2 * columns], [1, rows, columns]);
    let call = ffi::GatedCall {
        x: floats(&sizes, x),
        activation: ffi::KernelText { data: activation.as_ptr(), bytes: activation.len() },
        out: floats(&out_sizes, out),
    };
    // SAFETY: all tensors are borrowed and none is used meanwhile.
    unsafe { gated::run(&call) }
}

fn named(name: Option<&str>) -> Result<InstructionSet, String> {
    let Some(name) = name else { return Ok(InstructionSet::best()) };
    let mut available = InstructionSet::ALL.into_iter().filter(|set| set.is_available());
    let found = available.find(|set| format!("{set:?}").eq_ignore_ascii_case(name));
    found.ok_or(format!("there is no {name} here"))
}

fn floats(sizes: &[i32], data: &mut [f32]) -> ffi::KernelTensor {
    let bytes = size_of_val(data);
    tensor(DType::F32, sizes, data, bytes)
}

fn tensor<T>(dtype: DType, sizes: &[i32], data: &mut [T], bytes: usize) -> ffi::KernelTensor {
    ffi::KernelTensor {
        given: true,
        dtype: dtype.to_raw(),
        row_major: true,
        sizes: sizes.as_ptr(),
        dims: sizes.len(),
        data: data.as_mut_ptr().cast(),
        bytes,
    }
}
