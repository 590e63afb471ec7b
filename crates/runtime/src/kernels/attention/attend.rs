//! A block of rows that attends over a key head: tile by tile, each key and value read once for all of them.

use super::cache::{Kind, bytes};
use super::element::{Element, F16, F32, I8};
use super::partial::Partial;
use super::softmax::{Running, merge, weigh};
use super::tile::Tile;
use super::{Attention, BLOCK, SCORES, SPLIT, TILE, mix, packed, scores};
use crate::kernels::lanes::{Lanes, PADDING, dispatch};
use crate::kernels::scratch::{Parts, Scratch};
use std::cell::RefCell;
use std::ops::Range;

/// From so many rows on a tile's keys are turned on their side for them.
const MANY: usize = 16;

/// Rows whose values are summed up together.
const TOGETHER: usize = 4;

/// Rows of one key head, and what they attend to.
#[derive(Clone)]
pub(super) struct Work {
    pub(super) key_head: usize,
    /// Those of a position stand side by side: row `r` is query head `r % group` of row `r / group` of the call.
    pub(super) rows: Range<usize>,
    /// The split of the positions, if not all.
    pub(super) split: Option<usize>,
}

/// Attends for a block of rows: to `out` of the call, or to `partial` where it is of one split.
///
/// # Safety
/// The call was checked; nothing else writes the rows' outputs, and nothing writes the caches meanwhile.
pub(super) unsafe fn attend_block(call: &Attention<'_>, work: &Work, partial: Option<Partial>) {
    thread_local! {
        static SCRATCH: RefCell<Scratch> = RefCell::default();
    }
    // SAFETY: the caller's promise.
    SCRATCH.with_borrow_mut(|scratch| unsafe { attend_with(call.set, call, work, partial, scratch) });
}

dispatch! {
    unsafe fn attend_with(call: &Attention<'_>, work: &Work, partial: Option<Partial>, scratch: &mut Scratch) = with_set
}

#[inline(always)]
unsafe fn with_set<L: Lanes>(
    call: &Attention<'_>,
    work: &Work,
    partial: Option<Partial>,
    scratch: &mut Scratch,
) {
    // SAFETY: the caller's promise.
    unsafe {
        match call.keys.kind {
            Kind::F32 => Block::<L, F32>::new(call, work, scratch).attend(partial),
            Kind::F16 => Block::<L, F16>::new(call, work, scratch).attend(partial),
            Kind::I8 => Block::<L, I8>::new(call, work, scratch).attend(partial),
        }
    }
}

/// A row of a block.
#[derive(Clone, Copy)]
struct Row {
    /// The positions that it sees.
    first: usize,
    end: usize,
    /// By which its products are multiplied.
    scale: f32,
    running: Running,
    total: Option<Running>,
}

impl Row {
    const NONE: Self = Self { first: 0, end: 0, scale: 0.0, running: Running::NOTHING, total: None };

    /// What it sees of the tile that begins at a position.
    #[inline(always)]
    fn seen(&self, tile: usize) -> Range<usize> {
        let end = self.end.clamp(tile, tile + TILE) - tile;
        (self.first.clamp(tile, tile + TILE) - tile).min(end)..end
    }
}

/// The rows and the memory that they are worked on in. All is padded to `dim`.
struct Block<'a, L, E: Element> {
    call: &'a Attention<'a>,
    work: &'a Work,
    rows: [Row; BLOCK],
    count: usize,
    dim: usize,
    /// `[rows, dim]`, and as bytes.
    queries: &'a mut [f32],
    bytes: &'a mut [f32],
    /// `[rows, SCORES]`
    products: &'a mut [f32],
    /// `[rows, dim]` of this split, and of the ones before.
    out: &'a mut [f32],
    total: &'a mut [f32],
    tile: Tile<'a, E>,
    kernels: std::marker::PhantomData<L>,
}

impl<'a, L: Lanes, E: Element> Block<'a, L, E> {
    #[inline(always)]
    unsafe fn new(call: &'a Attention<'a>, work: &'a Work, scratch: &'a mut Scratch) -> Self {
        let count = work.rows.len();
        let dim = call.shape.dim.next_multiple_of(PADDING);
        let many = count >= MANY;
        let (each, scores, bytes) = (count * dim, count * SCORES, (count * dim).div_ceil(size_of::<f32>()));
        let total = 3 * Parts::length(each) + Parts::length(bytes) + Parts::length(scores);
        let mut parts = Parts(scratch.floats(total + Tile::<E>::floats(dim, many)));
        Self {
            call,
            work,
            rows: [Row::NONE; BLOCK],
            count,
            dim,
            queries: parts.take(each),
            bytes: parts.take(bytes),
            products: parts.take(scores),
            out: parts.take(each),
            total: parts.take(each),
            tile: Tile::new(call, work.key_head, dim, many, parts),
            kernels: std::marker::PhantomData,
        }
    }

    #[inline(always)]
    unsafe fn attend(mut self, partial: Option<Partial>) {
        let group = self.call.shape.group();
        let (mut first, mut end) = (usize::MAX, 0);
        for at in 0..self.count {
            let all = self.work.rows.start + at;
            let visible = self.call.positions.visible(all / group);
            let row = &mut self.rows[at];
            (row.first, row.end) = (visible.start, visible.end);
            (first, end) = (first.min(row.first), end.max(row.end));
            // SAFETY: the caller's promise.
            unsafe { self.load_query(at, all / group, all % group) };
        }
        let splits = match self.work.split {
            Some(split) => split..split + 1,
            None => first / SPLIT..end.div_ceil(SPLIT),
        };
        for split in splits {
            let seen = first.max(split * SPLIT)..end.min((split + 1) * SPLIT);
            // SAFETY: the caller's promise.
            unsafe {
                self.attend_split(seen.clone());
                match partial {
                    Some(partial) => self.give(partial),
                    None => self.merge(seen),
                }
            }
        }
        if partial.is_none() {
            // SAFETY: the caller's promise.
            unsafe { self.finish() };
        }
    }

    #[inline(always)]
    unsafe fn load_query(&mut self, at: usize, row: usize, member: usize) {
        let shape = &self.call.shape;
        let head = self.work.key_head * shape.group() + member;
        let query = &mut self.queries[at * self.dim..(at + 1) * self.dim];
        // SAFETY: the caller's promise.
        unsafe {
            self.call.queries.load::<L>(row, shape.heads, head, query, shape.dim);
            self.rows[at].scale = self.call.scale;
            if E::SCALED {
                let to = self.bytes.as_mut_ptr().cast::<i8>().add(at * self.dim);
                self.rows[at].scale *= bytes::<L>(query, to, self.dim);
            }
        }
    }

    /// Attends over positions of one split, from nothing.
    #[inline(always)]
    unsafe fn attend_split(&mut self, seen: Range<usize>) {
        self.rows[..self.count].iter_mut().for_each(|row| row.running = Running::NOTHING);
        self.out.fill(0.0);
        let mut begin = seen.start;
        while begin < seen.end {
            let tile = begin / TILE * TILE;
            let end = seen.end.min(tile + TILE);
            // SAFETY: the caller's promise.
            unsafe {
                self.tile.load::<L>(begin..end);
                self.take_tile(tile);
            }
            begin = end;
        }
    }

    #[inline(always)]
    unsafe fn take_tile(&mut self, tile: usize) {
        // SAFETY: the caller's promise.
        unsafe {
            if self.tile.many {
                self.products_of_many(tile);
            }
            let mut at = 0;
            while at < self.count {
                let rows = TOGETHER.min(self.count - at);
                match rows {
                    4 => self.take_rows::<4>(at, tile),
                    3 => self.take_rows::<3>(at, tile),
                    2 => self.take_rows::<2>(at, tile),
                    _ => self.take_rows::<1>(at, tile),
                }
                at += rows;
            }
        }
    }

    /// Products with keys that were turned on their side.
    #[inline(always)]
    unsafe fn products_of_many(&mut self, tile: usize) {
        if E::SCALED {
            return;
        }
        let [rows, _] = L::PACKED;
        let mut at = 0;
        while at < self.count {
            // SAFETY: the caller's promise.
            unsafe {
                if at + rows > self.count {
                    self.products_of::<1, 1>(at, tile);
                    at += 1;
                    continue;
                }
                match L::PACKED {
                    [4, 2] => self.products_of::<4, 2>(at, tile),
                    [2, 2] => self.products_of::<2, 2>(at, tile),
                    _ => self.products_of::<2, 1>(at, tile),
                }
            }
            at += rows;
        }
    }

    #[inline(always)]
    unsafe fn products_of<const R: usize, const V: usize>(&mut self, at: usize, tile: usize) {
        let seen = self.seen_by_any::<R>(at, tile);
        if seen.is_empty() {
            return;
        }
        let (queries, out) = (self.queries[at * self.dim..].as_ptr(), self.products_at::<R>(at));
        let (mut vector, end) = (seen.start / L::LANES, seen.end.div_ceil(L::LANES));
        // SAFETY: the caller's promise.
        unsafe {
            while vector + V <= end {
                packed::scores::<L, R, V>(queries, self.tile.packed(), vector, self.dim, out);
                vector += V;
            }
            while vector < end {
                packed::scores::<L, R, 1>(queries, self.tile.packed(), vector, self.dim, out);
                vector += 1;
            }
        }
    }

    #[inline(always)]
    unsafe fn take_rows<const R: usize>(&mut self, at: usize, tile: usize) {
        let seen: [Range<usize>; R] = std::array::from_fn(|row| self.rows[at + row].seen(tile));
        // SAFETY: the caller's promise.
        unsafe {
            if !self.tile.many || E::SCALED {
                self.products_of_few::<R>(at, tile);
            }
            for (row, seen) in seen.iter().enumerate() {
                if !seen.is_empty() {
                    let [products] = self.products_at::<1>(at + row);
                    let [out] = self.out_at::<1>(at + row);
                    let Row { scale, running, .. } = &mut self.rows[at + row];
                    let scales = self.tile.scales();
                    if E::SCALED {
                        weigh::<L, true>(products, seen.clone(), *scale, scales, running, out, self.dim);
                    } else {
                        weigh::<L, false>(products, seen.clone(), *scale, scales, running, out, self.dim);
                    }
                }
            }
            // What not all of the rows see is summed up for each.
            let all = seen.iter().fold(0..TILE, |all, seen| all.start.max(seen.start)..all.end.min(seen.end));
            if all.is_empty() {
                for (row, seen) in seen.into_iter().enumerate() {
                    self.mix_rows::<1>(at + row, seen);
                }
                return;
            }
            for (row, seen) in seen.iter().enumerate() {
                self.mix_rows::<1>(at + row, seen.start..all.start);
            }
            self.mix_rows::<R>(at, all.clone());
            for (row, seen) in seen.iter().enumerate() {
                self.mix_rows::<1>(at + row, all.end..seen.end);
            }
        }
    }

    /// Products with keys as they lie in the cache.
    #[inline(always)]
    unsafe fn products_of_few<const R: usize>(&mut self, at: usize, tile: usize) {
        let seen = self.seen_by_any::<R>(at, tile);
        if seen.is_empty() {
            return;
        }
        let keys = self.tile.keys().wrapping_add(seen.start * self.dim);
        // SAFETY: the caller's promise: the keys that any of the rows sees are there.
        unsafe {
            let out = self.products_at::<R>(at).map(|out| out.add(seen.start));
            if E::SCALED {
                let bytes = self.bytes.as_ptr().cast::<i8>();
                let rows = std::array::from_fn(|row| bytes.add((at + row) * self.dim));
                L::dots_i8::<R>(rows, keys.cast(), seen.len(), self.dim, out);
                return;
            }
            let rows: [*const f32; R] =
                std::array::from_fn(|row| self.queries[(at + row) * self.dim..].as_ptr());
            if L::ROWS >= R {
                scores::scores::<L, E, R>(rows, keys, seen.len(), self.dim, out);
                return;
            }
            let mut row = 0;
            while row + 2 <= R {
                let (rows, out) = ([rows[row], rows[row + 1]], [out[row], out[row + 1]]);
                scores::scores::<L, E, 2>(rows, keys, seen.len(), self.dim, out);
                row += 2;
            }
            if row < R {
                scores::scores::<L, E, 1>([rows[row]], keys, seen.len(), self.dim, [out[row]]);
            }
        }
    }

    /// Adds the weighted values of slots that all of the rows see.
    #[inline(always)]
    unsafe fn mix_rows<const R: usize>(&mut self, at: usize, seen: Range<usize>) {
        if seen.is_empty() {
            return;
        }
        let (weights, out) = (self.products_at::<R>(at).map(<*mut f32>::cast_const), self.out_at::<R>(at));
        // SAFETY: the caller's promise.
        unsafe {
            match self.tile.floats_of_values() {
                Some(values) => mix::mix::<L, F32, R>(weights, values, seen, self.dim, out),
                None => mix::mix::<L, E, R>(weights, self.tile.values(), seen, self.dim, out),
            }
        }
    }

    /// Takes what came of a split to what came of the ones before.
    #[inline(always)]
    unsafe fn merge(&mut self, split: Range<usize>) {
        for at in 0..self.count {
            let row = &mut self.rows[at];
            if row.first >= split.end || row.end <= split.start {
                continue;
            }
            let part = at * self.dim..(at + 1) * self.dim;
            match &mut row.total {
                None => {
                    self.total[part.clone()].copy_from_slice(&self.out[part]);
                    row.total = Some(row.running);
                }
                Some(total) => {
                    let (to, from) = (self.total[part.clone()].as_mut_ptr(), self.out[part].as_ptr());
                    // SAFETY: the caller's promise.
                    unsafe { merge::<L>(total, to, row.running, from, self.dim) };
                }
            }
        }
    }

    /// Leaves what came of the split to whoever merges them.
    #[inline(always)]
    unsafe fn give(&self, partial: Partial) {
        for at in 0..self.count {
            let out = &self.out[at * self.dim..(at + 1) * self.dim];
            // SAFETY: the caller's promise.
            unsafe { partial.give(at, out, self.rows[at].running) };
        }
    }

    #[inline(always)]
    unsafe fn finish(&self) {
        for at in 0..self.count {
            let all = self.work.rows.start + at;
            // Each row sees itself.
            let sum = self.rows[at].total.map_or(1.0, |total| total.sum);
            // SAFETY: the caller's promise.
            unsafe {
                self.call.write(self.work.key_head, all, &self.total[at * self.dim..(at + 1) * self.dim], sum)
            };
        }
    }

    /// Slots of a tile that one of the rows sees, and what is between.
    #[inline(always)]
    fn seen_by_any<const R: usize>(&self, at: usize, tile: usize) -> Range<usize> {
        let (mut first, mut end) = (TILE, 0);
        for row in &self.rows[at..at + R] {
            let seen = row.seen(tile);
            if !seen.is_empty() {
                (first, end) = (first.min(seen.start), end.max(seen.end));
            }
        }
        first..end
    }

    #[inline(always)]
    fn products_at<const R: usize>(&mut self, at: usize) -> [*mut f32; R] {
        let products = self.products[at * SCORES..(at + R) * SCORES].as_mut_ptr();
        std::array::from_fn(|row| products.wrapping_add(row * SCORES))
    }

    #[inline(always)]
    fn out_at<const R: usize>(&mut self, at: usize) -> [*mut f32; R] {
        let out = self.out[at * self.dim..(at + R) * self.dim].as_mut_ptr();
        std::array::from_fn(|row| out.wrapping_add(row * self.dim))
    }
}
