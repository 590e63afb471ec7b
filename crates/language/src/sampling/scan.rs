//! The pass over all logits: mask, checks, largest of each block.

use super::exponential::exp;
use super::mask::TokenMask;
use crate::{Error, Result};

/// Logits of a block. Its largest tells whether to look into it, so that later steps read few of them.
pub(super) const BLOCK: usize = 64;

/// What loops without branches can do side by side; also the fixed order of sums.
const LANES: usize = 16;

/// Writes minus infinity where the mask forbids, and gives the largest logit of each block in `maxima`.
///
/// # Errors
/// [`Error::InvalidLogits`] if a logit that is allowed is NaN or plus infinity, [`Error::NoTokenAllowed`] if none is
/// left.
pub(super) fn scan(logits: &mut [f32], mask: Option<&TokenMask>, maxima: &mut Vec<f32>) -> Result<f32> {
    if let Some(mask) = mask {
        apply_mask(logits, mask);
    }
    maxima.clear();
    maxima.resize(logits.len().div_ceil(BLOCK), f32::NEG_INFINITY);
    let valid = block_maxima(logits, maxima);
    if !valid {
        let found = logits.iter().enumerate().find(|(_, logit)| is_invalid(**logit));
        let (token, value) = found.map_or((0, f32::NAN), |(token, &logit)| (token as u32, logit));
        return Err(Error::InvalidLogits { token, value });
    }
    let largest =
        maxima.iter().fold(f32::NEG_INFINITY, |largest, &max| if max > largest { max } else { largest });
    if largest == f32::NEG_INFINITY { Err(Error::NoTokenAllowed) } else { Ok(largest) }
}

/// The first of the largest: its block's maximum is the first that equals `largest`.
pub(super) fn first_of(logits: &[f32], maxima: &[f32], largest: f32) -> Option<u32> {
    let block = maxima.iter().position(|&max| max == largest)?;
    let inside = logits[block * BLOCK..].iter().position(|&logit| logit == largest)?;
    Some((block * BLOCK + inside) as u32)
}

#[inline(always)]
fn is_invalid(logit: f32) -> bool {
    logit.is_nan() | (logit == f32::INFINITY)
}

/// Calls `$body` compiled for AVX2 where the processor has it. No result differs by it: Rust contracts no product and
/// sum into one operation, and orders of sums are fixed.
macro_rules! dispatched {
    ($(#[$doc:meta])* $name:ident => $body:ident($($argument:ident: $type:ty),*) $(-> $result:ty)?) => {
        $(#[$doc])*
        pub(super) fn $name($($argument: $type),*) $(-> $result)? {
            #[cfg(target_arch = "x86_64")]
            {
                #[target_feature(enable = "avx2")]
                fn with_avx2($($argument: $type),*) $(-> $result)? {
                    $body($($argument),*)
                }
                if is_x86_feature_detected!("avx2") {
                    // SAFETY: the processor has just been asked for AVX2.
                    return unsafe { with_avx2($($argument),*) };
                }
            }
            $body($($argument),*)
        }
    };
}

dispatched! {
    /// Minus infinity where a bit is not set.
    apply_mask => apply_mask_body(logits: &mut [f32], mask: &TokenMask)
}

dispatched! {
    /// The largest of each block; false if a logit is NaN or plus infinity.
    block_maxima => block_maxima_body(logits: &[f32], maxima: &mut [f32]) -> bool
}

dispatched! {
    /// Sum of `e^((logit - largest) * inverse)` of each block, in a fixed order.
    block_masses => block_masses_body(logits: &[f32], largest: f32, inverse: f32, masses: &mut [f32])
}

#[inline(always)]
fn apply_mask_body(logits: &mut [f32], mask: &TokenMask) {
    let words = mask.words();
    for (chunk, &word) in logits.chunks_mut(32).zip(words) {
        match word {
            u32::MAX => {}
            0 => chunk.fill(f32::NEG_INFINITY),
            _ => {
                for (bit, logit) in chunk.iter_mut().enumerate() {
                    *logit = if word >> bit & 1 == 1 { *logit } else { f32::NEG_INFINITY };
                }
            }
        }
    }
    let told = (words.len() * 32).min(logits.len());
    logits[told..].fill(f32::NEG_INFINITY);
}

#[inline(always)]
fn block_maxima_body(logits: &[f32], maxima: &mut [f32]) -> bool {
    let mut invalid = [0_u32; LANES];
    for (block, max) in logits.chunks(BLOCK).zip(maxima) {
        let mut lanes = [f32::NEG_INFINITY; LANES];
        let (steps, rest) = block.as_chunks::<LANES>();
        for step in steps {
            for lane in 0..LANES {
                let logit = step[lane];
                lanes[lane] = if logit > lanes[lane] { logit } else { lanes[lane] };
                invalid[lane] |= u32::from(is_invalid(logit));
            }
        }
        for &logit in rest {
            lanes[0] = if logit > lanes[0] { logit } else { lanes[0] };
            invalid[0] |= u32::from(is_invalid(logit));
        }
        let mut width = LANES / 2;
        while width > 0 {
            for lane in 0..width {
                let other = lanes[lane + width];
                lanes[lane] = if other > lanes[lane] { other } else { lanes[lane] };
            }
            width /= 2;
        }
        *max = lanes[0];
    }
    invalid.iter().all(|&lane| lane == 0)
}

#[inline(always)]
fn block_masses_body(logits: &[f32], largest: f32, inverse: f32, masses: &mut [f32]) {
    for (block, mass) in logits.chunks(BLOCK).zip(masses) {
        let mut lanes = [0.0_f32; LANES];
        let (steps, rest) = block.as_chunks::<LANES>();
        for step in steps {
            for lane in 0..LANES {
                lanes[lane] += exp((step[lane] - largest) * inverse);
            }
        }
        for (lane, &logit) in rest.iter().enumerate() {
            lanes[lane] += exp((logit - largest) * inverse);
        }
        let mut width = LANES / 2;
        while width > 0 {
            for lane in 0..width {
                lanes[lane] += lanes[lane + width];
            }
            width /= 2;
        }
        *mass = lanes[0];
    }
}
