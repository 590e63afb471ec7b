//! A call's tensors and numbers, checked.

use super::Shape;
use super::cache::Cache;
use super::positions::Positions;
use crate::bridge::ffi;
use crate::kernels::tensor::Tensor;

/// A call whose shapes fit together and whose written tensors share no memory with any other.
pub(super) struct Arguments<'a> {
    pub(super) shape: Shape,
    pub(super) query: &'a [f32],
    pub(super) key: &'a [f32],
    pub(super) value: &'a [f32],
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
    pub(super) unsafe fn of(call: &ffi::AttentionCall) -> Result<Self, String> {
        let mut sizes = [[0; 4]; 8];
        let [query, key, value, key_cache, value_cache, positions, until, out] = &mut sizes;
        // SAFETY: C++ gives as many sizes as there are dimensions.
        let (query, key, value, key_cache, value_cache, positions, until, out) = unsafe {
            (
                Tensor::new::<f32>("query", &call.query, query)?,
                Tensor::new::<f32>("key", &call.key, key)?,
                Tensor::new::<f32>("value", &call.value, value)?,
                Tensor::new::<f32>("key_cache", &call.key_cache, &mut key_cache[..3])?,
                Tensor::new::<f32>("value_cache", &call.value_cache, &mut value_cache[..3])?,
                Tensor::new::<i64>("cache_position", &call.cache_position, &mut positions[..1])?,
                Tensor::optional::<i64>("visible_until", &call.visible_until, &mut until[..1])?,
                Tensor::new::<f32>("out", &call.out, out)?,
            )
        };

        let shape = shape(&query, &key_cache)?;
        let Shape { rows, key_heads, dim, .. } = shape;
        key.must_be(&[1, rows, key_heads, dim])?;
        value.must_be(&[1, rows, key_heads, dim])?;
        value_cache.must_be(key_cache.sizes())?;
        positions.must_be(&[rows])?;
        until.map_or(Ok(()), |until| until.must_be(&[rows]))?;
        out.must_be(query.sizes())?;
        let written = [&key_cache, &value_cache, &out];
        for (at, tensor) in written.iter().enumerate() {
            let read = [&query, &key, &value, &positions].into_iter().chain(&until);
            read.chain(written[at + 1..].iter().copied())
                .try_for_each(|other| tensor.must_be_apart_from(other))?;
        }
        // SAFETY: the caller's promise; what is written shares memory with nothing else.
        Ok(unsafe {
            Self {
                shape,
                query: query.elements(),
                key: key.elements(),
                value: value.elements(),
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

fn shape(query: &Tensor<'_>, key_cache: &Tensor<'_>) -> Result<Shape, String> {
    let &[batch, rows, heads, dim] = query.sizes() else { return Err("query has no rows".into()) };
    let &[key_heads, slots, cached] = key_cache.sizes() else {
        return Err("the caches have no slots".into());
    };
    if batch != 1 {
        return Err(format!("the batch is {batch}, not 1"));
    }
    if key_heads == 0 || !heads.is_multiple_of(key_heads) {
        return Err(format!("{heads} query heads can't share {key_heads} key heads"));
    }
    if cached != dim {
        return Err(format!("{} is for heads of {cached}, query has heads of {dim}", key_cache.name()));
    }
    Ok(Shape { rows, heads, key_heads, dim, slots })
}
