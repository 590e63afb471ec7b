//! Weights as whole numbers.

/// Fraction bits of [`Precision::Fixed`].
pub(crate) const FIXED_BITS: u32 = 14;
/// Fraction bits of [`Precision::Pillow`].
pub(crate) const PILLOW_BITS: u32 = 22;
/// How many of them are in the low part.
pub(crate) const PILLOW_LOW_BITS: u32 = 11;

/// How weights are written as whole numbers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Precision {
    /// 14 fraction bits whose sum is exactly 1, so that an even picture stays even.
    Fixed,
    /// 22 fraction bits, as Pillow on bytes: those above the lowest 11, and the lowest 11 by themselves.
    Pillow,
}

impl Precision {
    /// Puts the weights `row` into `weights`, and `low` where that is used.
    pub(super) fn quantise(self, row: &[f64], weights: &mut [i16], low: &mut [i16]) {
        match self {
            Self::Fixed => {
                // Rounding the running sum keeps the sum, and each weight within one step.
                let one = f64::from(1 << FIXED_BITS);
                let (mut sum, mut before) = (0.0, 0.0);
                for (out, weight) in weights.iter_mut().zip(row) {
                    sum += weight;
                    let now = (sum * one).round();
                    *out = (now - before) as i16;
                    before = now;
                }
            }
            Self::Pillow => {
                for ((out, low), weight) in weights.iter_mut().zip(low).zip(row) {
                    let scaled = weight * f64::from(1 << PILLOW_BITS);
                    let whole = if *weight < 0.0 { (scaled - 0.5) as i32 } else { (scaled + 0.5) as i32 };
                    *out = (whole >> PILLOW_LOW_BITS) as i16;
                    *low = (whole & ((1 << PILLOW_LOW_BITS) - 1)) as i16;
                }
            }
        }
    }
}
