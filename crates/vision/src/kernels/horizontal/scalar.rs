//! The readable truth that every other implementation must equal.

use crate::kernels::{round_shift, saturate};
use crate::taps::{FIXED_BITS, Taps};

/// The weighted sum of the samples that each output takes. Each line of `samples` has some beyond the last, so that
/// weights may be read with their padding.
pub(in crate::kernels) fn mix(samples: &[i16], taps: &Taps, out: &mut [i16]) {
    mix_from(samples, taps, 0, out);
}

/// As [`mix`], of two channels that lie interleaved.
pub(in crate::kernels) fn mix_pairs(samples: &[i16], taps: &Taps, out: [&mut [i16]; 2]) {
    for (channel, out) in out.into_iter().enumerate() {
        for (index, out) in out.iter_mut().enumerate() {
            let (start, weights) = taps.get(index);
            let samples = samples[2 * start + channel..].iter().step_by(2);
            let products =
                samples.zip(weights).map(|(&sample, &weight)| i32::from(sample) * i32::from(weight));
            *out = saturate(round_shift(products.sum(), FIXED_BITS));
        }
    }
}

/// As [`mix`], for the outputs from `first` on.
pub(super) fn mix_from(samples: &[i16], taps: &Taps, first: usize, out: &mut [i16]) {
    for (index, out) in out.iter_mut().enumerate().skip(first) {
        let (start, weights) = taps.get(index);
        let products = samples[start..]
            .iter()
            .zip(weights)
            .map(|(&sample, &weight)| i32::from(sample) * i32::from(weight));
        *out = saturate(round_shift(products.sum(), FIXED_BITS));
    }
}
