//! e^x, the same on every platform.

/// `e^x` for x up to 0, within 3e-7 of it relatively; 0 below -87, where f32 has no normal numbers left.
///
/// The system's differs from platform to platform in the last bit, and with it the token drawn. This one is products and
/// sums in a fixed order: x = n ln 2 + r with |r| up to ln 2 / 2, e^r by its series up to r^7, then n into the exponent.
#[inline(always)]
pub(super) fn exp(x: f32) -> f32 {
    /// Adding 1.5 * 2^23 rounds to a whole number and leaves it in the lower bits.
    const ROUND: f32 = 12_582_912.0;
    /// ln 2 in two parts, of which n times the first is exact.
    const LN_2_HIGH: f32 = 355.0 / 512.0;
    const LN_2_LOW: f32 = -2.121_944_4e-4;
    let clamped = if x > -87.0 { x } else { -87.0 };
    let shifted = clamped * std::f32::consts::LOG2_E + ROUND;
    let n = shifted - ROUND;
    let r = clamped - n * LN_2_HIGH - n * LN_2_LOW;
    let series = [1.0 / 720.0, 1.0 / 120.0, 1.0 / 24.0, 1.0 / 6.0, 0.5, 1.0, 1.0]
        .into_iter()
        .fold(1.0 / 5040.0, |sum: f32, factor| sum * r + factor);
    let power = f32::from_bits(shifted.to_bits().wrapping_add(127) << 23);
    if x > -87.0 { series * power } else { 0.0 }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn it_is_the_exponential_function() {
        for step in 0..870_000 {
            let x = -(step as f32) * 1e-4;
            let exact = f64::from(x).exp();
            assert!((f64::from(exp(x)) - exact).abs() <= 3e-7 * exact, "e^{x}");
        }
        assert_eq!(exp(0.0), 1.0);
        assert_eq!(exp(f32::NEG_INFINITY), 0.0);
        assert_eq!(exp(-1e30), 0.0);
    }
}
