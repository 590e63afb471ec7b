//! A block of rows that attends over a key head: tile by tile, each key and value read once for all of them.

use super::cache::Kind;
use super::mix::{mix, mix_whole};
use super::partial::Partial;
use super::scores::{self, Rows};
use super::softmax::{Running, Weighed, merge, weigh};
use super::tile::Tile;
use super::{Attention, BLOCK, SCORES, SPLIT, TILE, TOGETHER, packed, queries};
use crate::kernels::lanes::{PADDING, has_whole_weights};
use crate::kernels::scratch::{Parts, Scratch};
use std::cell::RefCell;
use std::ops::Range;

/// From so many rows on a tile's keys are turned on their side for them.
const MANY: usize = 16;

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
    SCRATCH.with_borrow_mut(|scratch| unsafe { Block::new(call, work, scratch).attend(partial) });
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
    /// By which its weights are multiplied, where they are whole numbers.
    step: f32,
    total: Option<Running>,
}

impl Row {
    const NONE: Self =
        Self { first: 0, end: 0, scale: 0.0, running: Running::NOTHING, step: 0.0, total: None };

    /// What it sees of the tile that begins at a position.
    fn seen(&self, tile: usize) -> Range<usize> {
        let end = self.end.clamp(tile, tile + TILE) - tile;
        (self.first.clamp(tile, tile + TILE) - tile).min(end)..end
    }
}

/// The rows and the memory that they are worked on in. All is padded to `dim`.
struct Block<'a> {
    call: &'a Attention<'a>,
    work: &'a Work,
    rows: [Row; BLOCK],
    count: usize,
    dim: usize,
    /// Whether weights are whole numbers.
    whole: bool,
    /// `[rows, dim]`, and as bytes.
    queries: &'a mut [f32],
    bytes: &'a mut [f32],
    /// `[rows, SCORES]`
    products: &'a mut [f32],
    /// `[rows, dim]` of this split, and of the ones before.
    out: &'a mut [f32],
    total: &'a mut [f32],
    tile: Tile<'a>,
}

impl<'a> Block<'a> {
    fn new(call: &'a Attention<'a>, work: &'a Work, scratch: &'a mut Scratch) -> Self {
        let count = work.rows.len();
        let dim = call.shape.dim.next_multiple_of(PADDING);
        // Whole numbers are multiplied as they are.
        let whole = call.keys.kind == Kind::I8 && has_whole_weights(call.set);
        let many = count >= MANY && !whole;
        let (each, scores, bytes) = (count * dim, count * SCORES, (count * dim).div_ceil(size_of::<f32>()));
        let total = 3 * Parts::length(each) + Parts::length(bytes) + Parts::length(scores);
        let mut parts = Parts(scratch.floats(total + Tile::floats(call.keys.kind, dim, many)));
        Self {
            call,
            work,
            rows: [Row::NONE; BLOCK],
            count,
            dim,
            whole,
            queries: parts.take(each),
            bytes: parts.take(bytes),
            products: parts.take(scores),
            out: parts.take(each),
            total: parts.take(each),
            tile: Tile::new(call, work.key_head, dim, many, parts),
        }
    }

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
    }

    unsafe fn load_query(&mut self, at: usize, row: usize, member: usize) {
        let (set, shape) = (self.call.set, &self.call.shape);
        let head = self.work.key_head * shape.group() + member;
        let query = &mut self.queries[at * self.dim..(at + 1) * self.dim];
        // SAFETY: the caller's promise.
        unsafe {
            queries::load(set, &self.call.queries, row, shape, head, query);
            let mut scale = 1.0;
            if self.call.keys.kind == Kind::I8 {
                let to = self.bytes.as_mut_ptr().cast::<i8>().add(at * self.dim);
                queries::round(set, query, to, &mut scale);
            }
            self.rows[at].scale = self.call.scale * scale;
        }
    }

    /// Attends over positions of one split, from nothing.
    unsafe fn attend_split(&mut self, seen: Range<usize>) {
        self.rows[..self.count].iter_mut().for_each(|row| row.running = Running::NOTHING);
        self.out.fill(0.0);
        let mut begin = seen.start;
        while begin < seen.end {
            let tile = begin / TILE * TILE;
            let end = seen.end.min(tile + TILE);
            // SAFETY: the caller's promise.
            unsafe {
                self.tile.load(begin..end);
                for at in (0..self.count).step_by(TOGETHER) {
                    self.take_tile(at..self.count.min(at + TOGETHER), tile);
                }
            }
            begin = end;
        }
    }

    /// Takes a tile's keys and values in, for some of the rows.
    unsafe fn take_tile(&mut self, which: Range<usize>, tile: usize) {
        let mut seen: [Range<usize>; TOGETHER] = Default::default();
        let (mut first, mut end, mut all) = (TILE, 0, 0..TILE);
        for (seen, row) in seen.iter_mut().zip(&self.rows[which.clone()]) {
            *seen = row.seen(tile);
            all = all.start.max(seen.start)..all.end.min(seen.end);
            if seen.start < seen.end {
                (first, end) = (first.min(seen.start), end.max(seen.end));
            }
        }
        let any = first..end;
        if any.is_empty() {
            return;
        }
        // SAFETY: the caller's promise.
        unsafe {
            self.multiply(which.clone(), any.clone());
            self.weigh(which.clone(), &seen);
            if self.whole {
                self.mix_whole(which, &seen, any);
                return;
            }
            // What not all of the rows see is summed up for each.
            if all.is_empty() {
                for (row, seen) in which.zip(seen) {
                    self.mix(row..row + 1, seen);
                }
                return;
            }
            for (row, seen) in which.clone().zip(&seen) {
                self.mix(row..row + 1, seen.start..all.start);
            }
            self.mix(which.clone(), all.clone());
            for (row, seen) in which.zip(seen) {
                self.mix(row..row + 1, all.end..seen.end);
            }
        }
    }

    /// Multiplies the rows' queries with the keys that are seen.
    unsafe fn multiply(&mut self, which: Range<usize>, seen: Range<usize>) {
        let (set, dim) = (self.call.set, self.dim);
        let queries = self.queries[which.start * dim..].as_ptr();
        let out = self.products[which.start * SCORES..].as_mut_ptr();
        // SAFETY: the caller's promise.
        unsafe {
            if let Some(keys) = self.tile.packed() {
                packed::products(set, queries, which.len(), keys, seen, dim, out);
                return;
            }
            let bytes = self.bytes.as_ptr().cast::<i8>().add(which.start * dim);
            let rows = Rows { count: which.len(), floats: queries, bytes };
            let key = self.tile.key(seen.start);
            scores::products(set, self.call.keys.kind, rows, key, seen.len(), dim, out.add(seen.start));
        }
    }

    /// Makes weights of the products of keys that are seen.
    unsafe fn weigh(&mut self, which: Range<usize>, seen: &[Range<usize>; TOGETHER]) {
        let mut weighed: [Option<Weighed<'_>>; TOGETHER] = [const { None }; TOGETHER];
        let rows = &mut self.rows[which.clone()];
        let products = self.products[which.start * SCORES..which.end * SCORES].chunks_exact_mut(SCORES);
        let outs = self.out[which.start * self.dim..which.end * self.dim].chunks_exact_mut(self.dim);
        for ((((row, products), out), seen), weighed) in
            rows.iter_mut().zip(products).zip(outs).zip(seen).zip(&mut weighed)
        {
            let Row { scale, running, step, .. } = row;
            if seen.start < seen.end {
                let (products, seen, scale) = (products.as_mut_ptr(), seen.clone(), *scale);
                *weighed = Some(Weighed { products, seen, scale, running, step, out });
            }
        }
        // SAFETY: the caller's promise.
        unsafe { weigh(self.call.set, &mut weighed, self.tile.scales()) };
    }

    /// Adds the weighted values of slots that all of the rows see.
    unsafe fn mix(&mut self, which: Range<usize>, seen: Range<usize>) {
        if seen.is_empty() {
            return;
        }
        let weights = self.products[which.start * SCORES..].as_ptr();
        let out = self.out[which.start * self.dim..].as_mut_ptr();
        let (kind, values) = self.tile.values();
        // SAFETY: the caller's promise.
        unsafe { mix(self.call.set, kind, which.len(), weights, values, seen, self.dim, out) };
    }

    /// Adds the weighted values of slots that any of the rows sees: the others' weights are 0.
    unsafe fn mix_whole(&mut self, which: Range<usize>, seen: &[Range<usize>], any: Range<usize>) {
        let mut steps = [0.0; TOGETHER];
        for (at, row) in which.clone().enumerate() {
            if seen[at].start < seen[at].end {
                steps[at] = self.rows[row].step;
            } else {
                self.products[row * SCORES + TILE..(row + 1) * SCORES].fill(0.0);
            }
        }
        let weights = self.products[which.start * SCORES + TILE..].as_ptr().cast::<i16>();
        let out = self.out[which.start * self.dim..].as_mut_ptr();
        let values = self.tile.value(any.start).cast();
        // SAFETY: the caller's promise.
        unsafe {
            let weights = weights.add(any.start);
            mix_whole(self.call.set, which.len(), weights, steps, values, any.len(), self.dim, out);
        }
    }

    /// Takes what came of a split to what came of the ones before, and writes the outputs of rows that see no more.
    unsafe fn merge(&mut self, split: Range<usize>) {
        let set = self.call.set;
        for at in 0..self.count {
            let row = &mut self.rows[at];
            if row.first >= split.end || row.end <= split.start {
                continue;
            }
            let part = at * self.dim..(at + 1) * self.dim;
            let (out, total) = (&mut self.out[part.clone()], &mut self.total[part]);
            let last = row.end <= split.end;
            let (values, sum) = match &mut row.total {
                None if last => (&*out, row.running.sum),
                None => {
                    total.copy_from_slice(out);
                    row.total = Some(row.running);
                    continue;
                }
                Some(before) => {
                    // SAFETY: the caller's promise.
                    unsafe { merge(set, before, total, row.running, out) };
                    (&*total, before.sum)
                }
            };
            if last {
                // SAFETY: the caller's promise.
                unsafe { self.call.write(self.work.key_head, self.work.rows.start + at, values, sum) };
            }
        }
    }

    /// Leaves what came of the split to whoever merges them.
    unsafe fn give(&self, partial: Partial) {
        for at in 0..self.count {
            let out = &self.out[at * self.dim..(at + 1) * self.dim];
            // SAFETY: the caller's promise.
            unsafe { partial.give(at, out, self.rows[at].running) };
        }
    }
}
