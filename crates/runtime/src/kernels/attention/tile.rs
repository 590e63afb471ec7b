//! The keys and values of a tile, as a block of rows takes them.

use super::cache::Kind;
use super::element::convert;
use super::softmax::Scales;
use super::{Attention, TILE, packed};
use crate::kernels::scratch::Parts;
use std::ops::Range;

/// Keys and values of the positions from a multiple of [`TILE`] on.
pub(super) struct Tile<'a> {
    call: &'a Attention<'a>,
    key_head: usize,
    /// Elements of a key, padded.
    dim: usize,
    /// Whether it is for many rows.
    many: bool,
    /// The key of the tile's first position; only those that were loaded are there.
    keys: *const u8,
    values: *const u8,
    float_values: *const u8,
    /// Rows that are not side by side in the cache, or not padded there.
    gathered: [&'a mut [f32]; 2],
    /// `[TILE]` of keys and of values.
    scales: [&'a mut [f32]; 2],
    /// `[TILE, dim]`
    floats: [&'a mut [f32]; 2],
    packed: &'a mut [f32],
}

impl<'a> Tile<'a> {
    /// Floats that it takes.
    pub(super) fn floats(kind: Kind, dim: usize, many: bool) -> usize {
        let (elements, floats) = sizes(kind, dim, many);
        2 * Parts::length(elements) + 2 * Parts::length(TILE) + 3 * Parts::length(floats)
    }

    pub(super) fn new(
        call: &'a Attention<'a>,
        key_head: usize,
        dim: usize,
        many: bool,
        mut parts: Parts<'a>,
    ) -> Self {
        let (elements, floats) = sizes(call.keys.kind, dim, many);
        let nowhere = std::ptr::null();
        Self {
            call,
            key_head,
            dim,
            many,
            keys: nowhere,
            values: nowhere,
            float_values: nowhere,
            gathered: [parts.take(elements), parts.take(elements)],
            scales: [parts.take(TILE), parts.take(TILE)],
            floats: [parts.take(floats), parts.take(floats)],
            packed: parts.take(floats),
        }
    }

    /// A key, which must have been loaded.
    pub(super) fn key(&self, at: usize) -> *const u8 {
        self.keys.wrapping_add(at * self.dim * self.call.keys.kind.bytes())
    }

    /// A value as it is, which must have been loaded.
    pub(super) fn value(&self, at: usize) -> *const u8 {
        self.values.wrapping_add(at * self.dim * self.call.values.kind.bytes())
    }

    /// The values, of which only those that were loaded are there.
    pub(super) fn values(&self) -> (Kind, *const u8) {
        if self.many { (Kind::F32, self.float_values) } else { (self.call.values.kind, self.values) }
    }

    /// The keys turned on their side, if there are many rows and scores are not of whole numbers.
    pub(super) fn packed(&self) -> Option<*const f32> {
        (self.many && self.call.keys.kind != Kind::I8).then_some(self.packed.as_ptr())
    }

    /// The scales, if there are some.
    pub(super) fn scales(&self) -> Option<Scales> {
        let [keys, values] = &self.scales;
        let scaled = self.call.keys.kind == Kind::I8;
        scaled.then_some(Scales { keys: keys.as_ptr(), values: values.as_ptr() })
    }

    /// Loads the positions, all of one tile.
    ///
    /// # Safety
    /// The positions are in the caches, and nothing writes them meanwhile.
    pub(super) unsafe fn load(&mut self, positions: Range<usize>) {
        let begin = positions.start % TILE;
        let slots = self.call.shape.slots;
        let first = positions.start % slots;
        // The second ones are those of the ring's next round.
        let early = positions.len().min(slots - first);
        let parts = [(begin, first, early), (begin + early, 0, positions.len() - early)];
        let caches = [self.call.keys, self.call.values];
        // SAFETY: the caller's promise; the slots are there.
        unsafe {
            let rows = caches.map(|cache| cache.rows(self.key_head).cast_const());
            let side_by_side = early == positions.len() && self.dim == self.call.shape.dim;
            [self.keys, self.values] = if side_by_side {
                let line = self.dim * self.call.keys.kind.bytes();
                rows.map(|rows| rows.wrapping_add(first * line).wrapping_sub(begin * line))
            } else {
                self.gather(rows, parts)
            };
            if self.call.keys.kind == Kind::I8 {
                for (cache, to) in caches.into_iter().zip(&mut self.scales) {
                    let scales = cache.scales(self.key_head);
                    for (at, slot, count) in parts {
                        let (from, bytes) = (scales.add(slot * size_of::<f32>()), count * size_of::<f32>());
                        to[at..at + count].as_mut_ptr().cast::<u8>().copy_from_nonoverlapping(from, bytes);
                    }
                }
            }
            if self.many {
                self.load_many(begin..begin + positions.len());
            }
        }
    }

    unsafe fn gather(&mut self, rows: [*const u8; 2], parts: [(usize, usize, usize); 2]) -> [*const u8; 2] {
        let bytes = self.call.keys.kind.bytes();
        let (line, padded) = (self.call.shape.dim * bytes, self.dim * bytes);
        for (rows, to) in rows.into_iter().zip(&mut self.gathered) {
            if line != padded {
                to.fill(0.0);
            }
            let to = to.as_mut_ptr().cast::<u8>();
            for (at, slot, count) in parts {
                for row in 0..count {
                    // SAFETY: the caller's promise; there is room for TILE padded rows.
                    unsafe {
                        let from = rows.add((slot + row) * line);
                        to.add((at + row) * padded).copy_from_nonoverlapping(from, line);
                    }
                }
            }
        }
        self.gathered.each_ref().map(|rows| rows.as_ptr().cast())
    }

    /// Makes floats of the elements, and turns the keys on their side.
    unsafe fn load_many(&mut self, seen: Range<usize>) {
        let (set, kind) = (self.call.set, self.call.keys.kind);
        let elements = seen.start * self.dim..seen.end * self.dim;
        let [keys, values] = self.floats.each_mut().map(|floats| floats.as_mut_ptr());
        // SAFETY: the caller's promise.
        unsafe {
            self.float_values = self.values;
            if kind != Kind::F32 {
                convert(set, kind, self.values, elements.clone(), values);
                self.float_values = values.cast();
            }
            if kind == Kind::I8 {
                return;
            }
            // Whole vectors of keys are read.
            let mut from = self.keys.cast();
            if kind != Kind::F32 || seen != (0..TILE) {
                convert(set, kind, self.keys, elements, keys);
                from = keys.cast_const();
            }
            packed::pack(set, from, seen, self.dim, self.packed.as_mut_ptr());
        }
    }
}

/// Floats that gathered elements take, and those of many rows.
fn sizes(kind: Kind, dim: usize, many: bool) -> (usize, usize) {
    (TILE * dim * kind.bytes() / size_of::<f32>(), if many { TILE * dim } else { 0 })
}
