//! A call's tensors and numbers, checked.

use super::rotate::Rotation;
use crate::bridge::ffi;
use crate::kernels::attention::Shape;
use crate::kernels::attention::cache::{Cache, DTYPES, SCALE_BYTES};
use crate::kernels::attention::positions::Positions;
use crate::kernels::tensor::Tensor;
use crate::tensor::DType;

/// A call whose shapes fit together and whose written tensors share no memory with any other.
pub(super) struct Arguments<'a> {
    pub(super) shape: Shape,
    pub(super) queries: Rotation<'a>,
    pub(super) keys: Rotation<'a>,
    pub(super) key_cache: Cache<'a>,
    pub(super) value_cache: Cache<'a>,
    pub(super) positions: Positions<'a>,
    pub(super) scale: f32,
    pub(super) out: &'a mut [f32],
}

impl<'a> Arguments<'a> {
    /// # Errors
    /// What is wrong with the call, in words.
    ///
    /// # Safety
    /// Every tensor's data must hold its bytes, and nothing else may use them for `'a`.
    pub(super) unsafe fn of(call: &ffi::RotaryAttentionCall) -> Result<Self, String> {
        let mut sizes = [[0; 3]; 9];
        let [qkv, query_norm, key_norm, table, key_cache, value_cache, positions, until, out] = &mut sizes;
        // SAFETY: C++ gives as many sizes as there are dimensions.
        let (qkv, query_norm, key_norm, table, key_cache, value_cache, positions, until, out) = unsafe {
            (
                Tensor::new::<f32>("qkv", &call.qkv, qkv)?,
                Tensor::optional::<f32>("query_norm", &call.query_norm, &mut query_norm[..1])?,
                Tensor::optional::<f32>("key_norm", &call.key_norm, &mut key_norm[..1])?,
                Tensor::new::<f32>("table", &call.table, &mut table[..2])?,
                Tensor::of_any("key_cache", &call.key_cache, &DTYPES, key_cache)?,
                Tensor::of_any("value_cache", &call.value_cache, &DTYPES, value_cache)?,
                Tensor::new::<i64>("cache_position", &call.cache_position, &mut positions[..1])?,
                Tensor::optional::<i64>("visible_until", &call.visible_until, &mut until[..1])?,
                Tensor::new::<f32>("out", &call.out, out)?,
            )
        };

        let shape = shape(&qkv, &key_cache, call.heads)?;
        let Shape { rows, heads, dim, .. } = shape;
        if value_cache.dtype() != key_cache.dtype() {
            return Err(format!(
                "key_cache is of {}, value_cache of {}",
                key_cache.dtype(),
                value_cache.dtype()
            ));
        }
        value_cache.must_be(key_cache.sizes())?;
        for norm in [&query_norm, &key_norm].into_iter().flatten() {
            norm.must_be(&[dim])?;
        }
        table.must_be(&[rows, dim])?;
        positions.must_be(&[rows])?;
        until.map_or(Ok(()), |until| until.must_be(&[rows]))?;
        out.must_be(&[1, rows, heads * dim])?;
        let written = [&key_cache, &value_cache, &out];
        for (at, tensor) in written.iter().enumerate() {
            let optional = [&query_norm, &key_norm, &until].into_iter().flatten();
            let read = [&qkv, &table, &positions].into_iter().chain(optional);
            read.chain(written[at + 1..].iter().copied())
                .try_for_each(|other| tensor.must_be_apart_from(other))?;
        }
        // SAFETY: the caller's promise; what is written shares memory with nothing else.
        Ok(unsafe {
            let queries = Rotation {
                rows: qkv.elements(),
                row_length: qkv.sizes()[2],
                dim,
                norm: query_norm.map(|norm| norm.elements()),
                eps: call.eps as f32,
                table: table.elements(),
            };
            Self {
                shape,
                queries,
                keys: Rotation { norm: key_norm.map(|norm| norm.elements()), ..queries },
                key_cache: Cache::new(&key_cache, dim),
                value_cache: Cache::new(&value_cache, dim),
                positions: Positions {
                    written: positions.elements(),
                    visible_until: until.map(|until| until.elements()),
                    window: call.window,
                    slots: shape.slots,
                },
                scale: call.scale as f32,
                out: out.elements_mut(),
            }
        })
    }
}

fn shape(qkv: &Tensor<'_>, key_cache: &Tensor<'_>, heads: i64) -> Result<Shape, String> {
    let &[batch, rows, columns] = qkv.sizes() else { return Err("qkv has no rows".into()) };
    let &[key_heads, slots, cached] = key_cache.sizes() else {
        return Err("the caches have no slots".into());
    };
    if batch != 1 {
        return Err(format!("the batch is {batch}, not 1"));
    }
    let fitting = usize::try_from(heads).ok().filter(|&heads| heads > 0 && heads <= columns.max(1));
    let Some(heads) = fitting.filter(|heads| key_heads > 0 && heads.is_multiple_of(key_heads)) else {
        return Err(format!("{heads} query heads can't share {key_heads} key heads"));
    };
    let all = heads + 2 * key_heads;
    if !columns.is_multiple_of(all) {
        return Err(format!("rows of {columns} can't be divided among {all} heads"));
    }
    let dim = columns / all;
    if !dim.is_multiple_of(2) {
        return Err(format!("a head has {dim} elements, which are no pairs"));
    }
    let row = if key_cache.dtype() == DType::U8 { dim + SCALE_BYTES } else { dim };
    if cached != row {
        return Err(format!(
            "{} has rows of {cached}, not of {row}: heads have {dim} elements",
            key_cache.name()
        ));
    }
    Ok(Shape { rows, heads, key_heads, dim, slots })
}
