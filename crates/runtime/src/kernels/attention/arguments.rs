//! A call's tensors and numbers, checked.

use super::Shape;
use crate::bridge::ffi;
use crate::kernels::tensor::Tensor;
use std::ops::Range;

/// A call whose shapes fit together and whose written tensors share no memory with any other.
pub(super) struct Arguments<'a> {
    pub(super) shape: Shape,
    pub(super) query: &'a [f32],
    pub(super) key: &'a [f32],
    pub(super) value: &'a [f32],
    pub(super) key_cache: &'a mut [f32],
    pub(super) value_cache: &'a mut [f32],
    pub(super) positions: &'a [i64],
    visible_until: Option<&'a [i64]>,
    pub(super) scale: f32,
    window: i64,
    /// The position in slot 0 that the ranges of [`Arguments::visible`] count from.
    origin: i64,
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
        if call.window < 0 {
            return Err(format!("window is {}; 0 is none", call.window));
        }
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
                key_cache: key_cache.elements_mut(),
                value_cache: value_cache.elements_mut(),
                positions: positions.elements(),
                visible_until: until.map(|until| until.elements()),
                scale: call.scale as f32,
                window: call.window,
                origin: 0,
                out: out.elements_mut(),
            }
        })
    }

    /// Checks that every row has a slot, sees itself, and sees nothing that is past the cache or that a row of this call
    /// is written over.
    ///
    /// # Errors
    /// The first row for which that does not hold.
    pub(super) fn check_positions(&mut self) -> Result<(), String> {
        let slots = self.shape.slots as i64;
        // With a window a position may be any: the cache is a ring.
        let end = if self.window == 0 { slots } else { i64::MAX };
        let (mut oldest, mut newest) = (i64::MAX, 0);
        for (row, &position) in self.positions.iter().enumerate() {
            if !(0..end).contains(&position) {
                return Err(format!("cache_position[{row}] is {position}, the cache has {slots} slots"));
            }
            let until = self.last(row);
            if !(position..end).contains(&until) {
                return Err(format!(
                    "visible_until[{row}] is {until}, must be from {position}, its row's position, to {}",
                    end - 1
                ));
            }
            (oldest, newest) = (oldest.min(self.first(row)), newest.max(until));
        }
        if self.positions.is_empty() {
            return Ok(());
        }
        if newest - oldest >= slots {
            return Err(format!(
                "its rows see and write the positions {oldest} to {newest}, more than the cache's {slots} slots: give fewer \
                 rows a call"
            ));
        }
        self.origin = oldest - oldest % slots;
        Ok(())
    }

    /// What a row sees, once [`Arguments::check_positions`] found nothing: slots, those of the ring's next round following
    /// on the last one. So they end below twice the number of slots.
    pub(super) fn visible(&self, row: usize) -> Range<usize> {
        (self.first(row) - self.origin) as usize..(self.last(row) - self.origin) as usize + 1
    }

    fn first(&self, row: usize) -> i64 {
        if self.window == 0 { 0 } else { (self.positions[row] - self.window + 1).max(0) }
    }

    fn last(&self, row: usize) -> i64 {
        self.visible_until.map_or(self.positions[row], |until| until[row])
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
