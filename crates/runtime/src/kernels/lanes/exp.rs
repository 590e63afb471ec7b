//! Exponentials and what is made of them.

use super::Lanes;

/// Adding it rounds to a whole number, which is then in the lowest bits.
const ROUND: f32 = 12_582_912.0; // 1.5 * 2^23

/// e to the power of `x`, which is at most 0, to 2 units in the last place; 0 below -87.3, where f32 has no such normal
/// number. The polynomial and the two parts of ln 2 are those of Cephes' `expf` (S. Moshier).
///
/// # Safety
/// The processor has the instruction set.
#[inline(always)]
pub(in crate::kernels) unsafe fn exp_of_negative<L: Lanes>(x: L::F) -> L::F {
    // SAFETY: the caller's promise.
    unsafe {
        let round = L::splat(ROUND);
        let shifted = L::fma(x, L::splat(std::f32::consts::LOG2_E), round);
        let whole = L::sub(shifted, round);
        let rest = L::fma(whole, L::splat(-0.693_359_4), x);
        let rest = L::fma(whole, L::splat(2.121_944_4e-4), rest);
        let mut power = L::splat(1.987_569_1e-4);
        for factor in [1.398_199_9e-3, 8.333_452e-3, 4.166_579_6e-2, 1.666_666_5e-1, 0.5] {
            power = L::fma(power, rest, L::splat(factor));
        }
        let one = L::splat(1.0);
        let power = L::fma(L::mul(power, rest), rest, L::add(rest, one));
        // Not a maximum, which would lose NaN.
        L::if_below(x, -87.3, L::splat(0.0), L::mul(power, L::power_of_two(shifted)))
    }
}

/// `1 / (1 + exp(-x))`, to 4 units in the last place also where it is next to 0, but 0 below -87.3.
///
/// # Safety
/// The processor has the instruction set.
#[inline(always)]
pub(in crate::kernels) unsafe fn sigmoid<L: Lanes>(x: L::F) -> L::F {
    // SAFETY: the caller's promise.
    unsafe {
        let (zero, one) = (L::splat(0.0), L::splat(1.0));
        let power = exp_of_negative::<L>(L::sub(zero, L::abs(x)));
        L::div(L::if_below(x, 0.0, power, one), L::add(one, power))
    }
}
