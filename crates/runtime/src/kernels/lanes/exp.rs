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
pub(super) unsafe fn exp_of_negative<L: Lanes>(x: L::F) -> L::F {
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
        let power = L::exp_of_negative(L::sub(zero, L::abs(x)));
        L::div(L::if_below(x, 0.0, power, one), L::add(one, power))
    }
}

#[cfg(test)]
mod tests {
    use super::super::{Lanes, PADDING, dispatch};
    use crate::kernels::instruction_set::InstructionSet;

    dispatch! {
        unsafe fn exp(x: &mut [f32; PADDING]) = exp_with
    }

    #[inline(always)]
    unsafe fn exp_with<L: Lanes>(x: &mut [f32; PADDING]) {
        for at in (0..PADDING).step_by(L::LANES) {
            // SAFETY: the caller's promise.
            unsafe {
                let x = x.as_mut_ptr().add(at);
                L::store(x, L::exp_of_negative(L::load(x)));
            }
        }
    }

    #[test]
    fn exp_is_that_of_the_standard_library() {
        for set in InstructionSet::ALL.into_iter().filter(|set| set.is_available()) {
            let exp = |x: f32| {
                let mut all = [x; PADDING];
                // SAFETY: the instruction set is there.
                unsafe { exp(set, &mut all) };
                assert!(all.iter().all(|lane| lane.to_bits() == all[0].to_bits()));
                all[0]
            };
            for step in 0..=87_300 {
                let x = -(step as f32) / 1000.0;
                let (found, exact) = (f64::from(exp(x)), f64::from(x).exp());
                assert!((found - exact).abs() <= 3e-7 * exact, "{set:?} {x}: {found} is not {exact}");
            }
            assert_eq!((exp(0.0), exp(-87.4), exp(f32::NEG_INFINITY)), (1.0, 0.0, 0.0), "{set:?}");
            assert!(exp(f32::NAN).is_nan());
        }
    }
}
