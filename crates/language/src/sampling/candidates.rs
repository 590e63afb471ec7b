//! The tokens that are still in question, and their probabilities.

use super::exponential::exp;
use super::scan::BLOCK;

/// A weight of 1, that of the most probable token. Weights are whole numbers, so that no sum depends on its order.
const ONE: f32 = (1_u64 << 40) as f32;

/// From logits to weights: probabilities, as whole numbers and without the common factor.
#[derive(Debug, Clone, Copy)]
pub(super) struct Scale {
    /// The largest logit of all.
    pub(super) largest: f32,
    /// 1 / temperature.
    pub(super) inverse: f32,
}

impl Scale {
    /// Probability of a token of this logit / probability of the most probable one.
    pub(super) fn ratio(self, logit: f32) -> f32 {
        exp((logit - self.largest) * self.inverse)
    }

    /// The same in units of 2^-40, cut off.
    pub(super) fn weight(self, logit: f32) -> u64 {
        (self.ratio(logit) * ONE) as u64
    }

    /// A sum of ratios in these units.
    pub(super) fn whole(mass: f64) -> u64 {
        (mass * f64::from(ONE)) as u64
    }
}

/// A logit and its token in one number: the larger the logit the smaller the number, and of equal logits the lower id
/// has the smaller one. So one comparison orders by probability, with ties told apart.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Key(u64);

impl Key {
    pub(super) fn new(logit: f32, token: u32) -> Self {
        // Minus zero becomes plus zero, which it equals.
        let bits = (logit + 0.0).to_bits();
        let ascending = if bits >> 31 == 1 { !bits } else { bits | 1 << 31 };
        Self(u64::from(!ascending) << 32 | u64::from(token))
    }

    pub(super) fn token(self) -> u32 {
        self.0 as u32
    }

    pub(super) fn logit(self) -> f32 {
        let ascending = !((self.0 >> 32) as u32);
        f32::from_bits(if ascending >> 31 == 1 { ascending & !(1 << 31) } else { !ascending })
    }
}

/// The candidates of one step, and room that is kept from step to step.
#[derive(Debug, Clone, Default)]
pub(super) struct Candidates {
    /// Largest logit of each block.
    pub(super) maxima: Vec<f32>,
    /// Sum of ratios of each block; of the steps that need it.
    pub(super) masses: Vec<f32>,
    /// Those left, by ascending id; of no meaning while [`Self::all`].
    pub(super) keys: Vec<Key>,
    /// Whether no step has left any out yet.
    pub(super) all: bool,
    ranked: Vec<f32>,
    work: Vec<Key>,
}

impl Candidates {
    /// Takes those whose logit is at least `threshold`, looking only into blocks that have any.
    pub(super) fn collect(&mut self, logits: &[f32], threshold: f32) {
        self.all = false;
        self.keys.clear();
        for (block, _) in self.maxima.iter().enumerate().filter(|&(_, &max)| max >= threshold) {
            let first = block * BLOCK;
            let inside = &logits[first..logits.len().min(first + BLOCK)];
            for (at, &logit) in inside.iter().enumerate() {
                if logit >= threshold && logit > f32::NEG_INFINITY {
                    self.keys.push(Key::new(logit, (first + at) as u32));
                }
            }
        }
    }

    /// A logit that at least `count` tokens reach, for `count` from 1 on: the `count`-th largest maximum of a block.
    /// Where there are fewer blocks, minus infinity.
    pub(super) fn reached_by(&mut self, count: usize) -> f32 {
        if count > self.maxima.len() {
            return f32::NEG_INFINITY;
        }
        self.ranked.clear();
        self.ranked.extend_from_slice(&self.maxima);
        *self.ranked.select_nth_unstable_by(count - 1, |a, b| b.total_cmp(a)).1
    }

    /// Finds the least probable one to keep with `boundary`, which may reorder what it is given, and keeps those up to it.
    pub(super) fn cut(&mut self, boundary: impl FnOnce(&mut [Key]) -> Option<Key>) {
        self.work.clear();
        self.work.extend_from_slice(&self.keys);
        if let Some(last) = boundary(&mut self.work) {
            self.keys.retain(|&key| key <= last);
        }
    }

    /// Sum of their weights.
    pub(super) fn mass(&self, scale: Scale) -> u64 {
        self.keys.iter().map(|key| scale.weight(key.logit())).sum()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keys_order_by_logit_and_then_by_id() {
        let keys = [(3.5, 9), (0.0, 0), (-0.0, 1), (-1e-40, 4), (-2.0, 7), (-2.0, 8), (f32::MIN, 2)]
            .map(|(logit, token)| (Key::new(logit, token), logit, token));
        assert!(keys.is_sorted_by_key(|entry| entry.0));
        for (key, logit, token) in keys {
            assert_eq!((key.logit(), key.token()), (logit, token));
        }
    }
}
