//! The arithmetic, in plain loops that the compiler turns into vectors.
//!
//! The softmax is computed as keys come by (Milakov and Gimelshein, 2018, arXiv:1805.02867): a running maximum, and a sum
//! and an output that are scaled down when it grows. So nothing is stored for a row but these, however long the cache is.

use super::BLOCK;
use std::ops::Range;

/// Slots whose scores are computed at once.
const TILE: usize = 64;

/// Sums that a dot product keeps side by side: the compiler may not reorder a sum of floats by itself.
const LANES: usize = 8;

/// A row of the block.
#[derive(Clone, Copy)]
struct Row {
    /// Where its query begins among all, and its output.
    at: usize,
    /// Slots; behind the last one those of the ring's next round.
    first: usize,
    end: usize,
    /// The largest score so far.
    largest: f32,
    /// The sum of the weights so far, against the largest score.
    sum: f32,
}

/// Rows that use the same key head.
pub(super) struct Block {
    rows: [Row; BLOCK],
    used: usize,
}

impl Block {
    pub(super) fn new() -> Self {
        let empty = Row { at: 0, first: 0, end: 0, largest: f32::NEG_INFINITY, sum: 0.0 };
        Self { rows: [empty; BLOCK], used: 0 }
    }

    /// Adds a row, whose query and output begin at `at` and which sees the slots `visible`: one at least, and below twice
    /// their number.
    pub(super) fn add(&mut self, at: usize, visible: Range<usize>) {
        let row = &mut self.rows[self.used];
        (row.at, row.first, row.end) = (at, visible.start, visible.end);
        self.used += 1;
    }

    /// Attends for its rows, over the keys and values `[C, dim]` of their head.
    pub(super) fn attend(
        &mut self,
        query: &[f32],
        keys: &[f32],
        values: &[f32],
        dim: usize,
        scale: f32,
        out: &mut [f32],
    ) {
        let rows = &mut self.rows[..self.used];
        rows.iter().for_each(|row| out[row.at..row.at + dim].fill(0.0));
        let first = rows.iter().map(|row| row.first).min().unwrap_or(0);
        let end = rows.iter().map(|row| row.end).max().unwrap_or(0);
        for tile in (first..end).step_by(TILE) {
            for row in &mut *rows {
                let slots = tile.max(row.first)..(tile + TILE).min(row.end);
                if slots.is_empty() {
                    continue;
                }
                let (query, out) = (&query[row.at..row.at + dim], &mut out[row.at..row.at + dim]);
                for slots in unrolled(slots, keys.len() / dim) {
                    if !slots.is_empty() {
                        let seen = slots.start * dim..slots.end * dim;
                        row.take(query, &keys[seen.clone()], &values[seen], scale, out);
                    }
                }
            }
        }
        for row in rows {
            let share = 1.0 / row.sum;
            out[row.at..row.at + dim].iter_mut().for_each(|element| *element *= share);
        }
    }
}

/// A range of slots of which those from `count` on are the first ones again.
fn unrolled(slots: Range<usize>, count: usize) -> [Range<usize>; 2] {
    let Range { start, end } = slots;
    [start.min(count)..end.min(count), start.max(count) - count..end.max(count) - count]
}

impl Row {
    /// Takes up to `TILE` more slots in.
    fn take(&mut self, query: &[f32], keys: &[f32], values: &[f32], scale: f32, out: &mut [f32]) {
        let mut weights = [0.0; TILE];
        let weights = &mut weights[..keys.len() / query.len()];
        for (weight, key) in weights.iter_mut().zip(keys.chunks_exact(query.len())) {
            *weight = dot(query, key) * scale;
        }
        let largest = weights.iter().fold(self.largest, |largest, &score| largest.max(score));
        let shrink = exp(self.largest - largest);
        weights.iter_mut().for_each(|weight| *weight = exp(*weight - largest));
        self.sum = self.sum * shrink + weights.iter().sum::<f32>();
        if shrink != 1.0 {
            out.iter_mut().for_each(|element| *element *= shrink);
        }
        add_weighted(weights, values, out);
        self.largest = largest;
    }
}

fn dot(a: &[f32], b: &[f32]) -> f32 {
    let mut sums = [0.0; LANES];
    let (whole, rest) = (a.chunks_exact(LANES), b.chunks_exact(LANES));
    let tail: f32 = whole.remainder().iter().zip(rest.remainder()).map(|(a, b)| a * b).sum();
    for (a, b) in whole.zip(rest) {
        for lane in 0..LANES {
            sums[lane] += a[lane] * b[lane];
        }
    }
    sums.iter().sum::<f32>() + tail
}

/// Adds the rows of `values`, each times its weight, to `out`: four at a time, so that `out` is read and written once for
/// them.
fn add_weighted(weights: &[f32], values: &[f32], out: &mut [f32]) {
    let dim = out.len();
    let (fours, rest) = weights.as_chunks::<4>();
    let (early, late) = values.split_at(fours.len() * 4 * dim);
    for (weight, rows) in fours.iter().zip(early.chunks_exact(4 * dim)) {
        let (a, rows) = rows.split_at(dim);
        let (b, rows) = rows.split_at(dim);
        let (c, d) = rows.split_at(dim);
        for ((((out, a), b), c), d) in out.iter_mut().zip(a).zip(b).zip(c).zip(d) {
            *out += (weight[0] * a + weight[1] * b) + (weight[2] * c + weight[3] * d);
        }
    }
    for (&weight, row) in rest.iter().zip(late.chunks_exact(dim)) {
        out.iter_mut().zip(row).for_each(|(out, value)| *out += weight * value);
    }
}

/// e to the power of `x`, which is at most 0, to 2 units in the last place; 0 below -87.3, where f32 has no such normal
/// number. The polynomial and the two parts of ln 2 are those of Cephes' `expf` (S. Moshier).
fn exp(x: f32) -> f32 {
    /// Adding it rounds to a whole number, which is then in the lowest bits.
    const ROUND: f32 = 12_582_912.0; // 1.5 * 2^23
    let shifted = x * std::f32::consts::LOG2_E + ROUND;
    let whole = shifted - ROUND;
    let rest = (x - whole * 0.693_359_4) - whole * -2.121_944_4e-4;
    let mut power = 1.987_569_1e-4;
    for factor in [1.398_199_9e-3, 8.333_452e-3, 4.166_579_6e-2, 1.666_666_5e-1, 0.5] {
        power = power * rest + factor;
    }
    let power = power * rest * rest + rest + 1.0;
    let exponent = (shifted.to_bits() as i32).wrapping_sub(ROUND.to_bits() as i32).wrapping_add(127);
    let result = power * f32::from_bits((exponent << 23) as u32);
    // Not `max`, which would lose NaN.
    if x < -87.3 { 0.0 } else { result }
}

#[cfg(test)]
mod tests {
    use super::exp;

    #[test]
    fn exp_is_that_of_the_standard_library() {
        for step in 0..=87_300 {
            let x = -(step as f32) / 1000.0;
            let (found, exact) = (f64::from(exp(x)), f64::from(x).exp());
            assert!((found - exact).abs() <= 2.5e-7 * exact, "{x}: {found} is not {exact}");
        }
        assert_eq!((exp(0.0), exp(-87.4), exp(f32::NEG_INFINITY)), (1.0, 0.0, 0.0));
        assert!(exp(f32::NAN).is_nan());
    }
}
