//! The keys and values of a tile, as a block of rows takes them.

use super::element::Element;
use super::softmax::Scales;
use super::{Attention, TILE, packed};
use crate::kernels::lanes::Lanes;
use crate::kernels::scratch::Parts;
use std::ops::Range;

/// Keys and values of the positions from a multiple of [`TILE`] on.
pub(super) struct Tile<'a, E: Element> {
    call: &'a Attention<'a>,
    key_head: usize,
    /// Elements of a key, padded.
    dim: usize,
    /// Whether it is for many rows.
    pub(super) many: bool,
    /// The key of the tile's first position; only those that were loaded are there.
    keys: *const E::Stored,
    values: *const E::Stored,
    float_values: *const f32,
    /// Rows that are not side by side in the cache, or not padded there.
    gathered: [&'a mut [f32]; 2],
    /// `[TILE]` of keys and of values.
    scales: [&'a mut [f32]; 2],
    /// `[TILE, dim]`
    floats: [&'a mut [f32]; 2],
    packed: &'a mut [f32],
}

impl<'a, E: Element> Tile<'a, E> {
    /// Floats that it takes.
    pub(super) fn floats(dim: usize, many: bool) -> usize {
        let (elements, floats) = sizes::<E>(dim, many);
        2 * Parts::length(elements) + 2 * Parts::length(TILE) + 3 * Parts::length(floats)
    }

    pub(super) fn new(
        call: &'a Attention<'a>,
        key_head: usize,
        dim: usize,
        many: bool,
        mut parts: Parts<'a>,
    ) -> Self {
        let (elements, floats) = sizes::<E>(dim, many);
        Self {
            call,
            key_head,
            dim,
            many,
            keys: std::ptr::null(),
            values: std::ptr::null(),
            float_values: std::ptr::null(),
            gathered: [parts.take(elements), parts.take(elements)],
            scales: [parts.take(TILE), parts.take(TILE)],
            floats: [parts.take(floats), parts.take(floats)],
            packed: parts.take(floats),
        }
    }

    pub(super) fn keys(&self) -> *const E::Stored {
        self.keys
    }

    pub(super) fn values(&self) -> *const E::Stored {
        self.values
    }

    /// The values, if there are many rows.
    pub(super) fn floats_of_values(&self) -> Option<*const f32> {
        self.many.then_some(self.float_values)
    }

    /// The keys turned on their side, if there are many rows and scores are not of whole numbers.
    pub(super) fn packed(&self) -> *const f32 {
        self.packed.as_ptr()
    }

    pub(super) fn scales(&self) -> Scales {
        let [keys, values] = &self.scales;
        Scales { keys: keys.as_ptr(), values: values.as_ptr() }
    }

    /// Loads the positions, all of one tile.
    ///
    /// # Safety
    /// As for [`Lanes`]; nothing writes the caches meanwhile.
    #[inline(always)]
    pub(super) unsafe fn load<L: Lanes>(&mut self, positions: Range<usize>) {
        let begin = positions.start % TILE;
        let seen = begin..begin + positions.len();
        let slots = self.call.shape.slots;
        let first = positions.start % slots;
        // The second ones are those of the ring's next round.
        let early = positions.len().min(slots - first);
        let parts = [(begin, first, early), (begin + early, 0, positions.len() - early)];
        let (keys, values) = (&self.call.keys, &self.call.values);
        // SAFETY: the caller's promise; the slots are there.
        unsafe {
            let rows = [keys, values].map(|cache| cache.rows(self.key_head).cast::<E::Stored>().cast_const());
            [self.keys, self.values] = if self.dim == self.call.shape.dim && early == positions.len() {
                rows.map(|rows| rows.wrapping_add(first * self.dim).wrapping_sub(begin * self.dim))
            } else {
                self.gather(rows, parts)
            };
            if E::SCALED {
                for (cache, to) in [keys, values].into_iter().zip(&mut self.scales) {
                    let scales = cache.scales(self.key_head);
                    for (at, slot, count) in parts {
                        let (from, bytes) = (scales.add(slot * size_of::<f32>()), count * size_of::<f32>());
                        to[at..at + count].as_mut_ptr().cast::<u8>().copy_from_nonoverlapping(from, bytes);
                    }
                }
            }
            if self.many {
                self.load_many::<L>(seen);
            }
        }
    }

    #[inline(always)]
    unsafe fn gather(
        &mut self,
        rows: [*const E::Stored; 2],
        parts: [(usize, usize, usize); 2],
    ) -> [*const E::Stored; 2] {
        let dim = self.call.shape.dim;
        for (rows, to) in rows.into_iter().zip(&mut self.gathered) {
            if self.dim != dim {
                to.fill(0.0);
            }
            let to = to.as_mut_ptr().cast::<E::Stored>();
            for (at, slot, count) in parts {
                for row in 0..count {
                    // SAFETY: the caller's promise; there is room for TILE padded rows.
                    unsafe {
                        let from = rows.add((slot + row) * dim);
                        to.add((at + row) * self.dim).copy_from_nonoverlapping(from, dim);
                    }
                }
            }
        }
        self.gathered.each_ref().map(|rows| rows.as_ptr().cast::<E::Stored>())
    }

    /// Makes floats of the elements, and turns the keys on their side.
    #[inline(always)]
    unsafe fn load_many<L: Lanes>(&mut self, seen: Range<usize>) {
        // SAFETY: the caller's promise.
        unsafe {
            let [keys, values] = self.floats.each_mut().map(|floats| floats.as_mut_ptr());
            self.float_values = if E::FLOATS {
                self.values.cast()
            } else {
                convert::<L, E>(self.values, seen.clone(), self.dim, values);
                values
            };
            if E::SCALED {
                return;
            }
            let keys = if E::FLOATS && seen == (0..TILE) {
                self.keys.cast()
            } else {
                convert::<L, E>(self.keys, seen.clone(), self.dim, keys);
                keys.cast_const()
            };
            let (begin, end) = (seen.start / L::LANES, seen.end.div_ceil(L::LANES));
            packed::pack::<L>(keys, begin, end, self.dim, self.packed.as_mut_ptr());
        }
    }
}

/// Floats that gathered elements take, and those of many rows.
fn sizes<E: Element>(dim: usize, many: bool) -> (usize, usize) {
    let elements = TILE * dim * size_of::<E::Stored>() / size_of::<f32>();
    (elements, if many { TILE * dim } else { 0 })
}

#[inline(always)]
unsafe fn convert<L: Lanes, E: Element>(
    rows: *const E::Stored,
    seen: Range<usize>,
    dim: usize,
    to: *mut f32,
) {
    // SAFETY: the caller's promise.
    unsafe {
        for at in (seen.start * dim..seen.end * dim).step_by(L::LANES) {
            L::store(to.add(at), E::load::<L>(rows.wrapping_add(at)));
        }
    }
}
