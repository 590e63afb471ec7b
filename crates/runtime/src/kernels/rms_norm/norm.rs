//! The arithmetic: a row at a time, whose result depends on nothing else.

use crate::kernels::lanes::Lanes;

/// Sums that are kept side by side, so that none waits for another.
const SUMS: usize = 4;

/// `1 / sqrt(mean(x^2) + eps)` of a row that has elements.
///
/// # Safety
/// The processor has the instruction set.
#[inline(always)]
pub(in crate::kernels) unsafe fn root_mean_square<L: Lanes>(x: &[f32], eps: f32) -> f32 {
    // SAFETY: the caller's promise; what is read is there.
    let squares = unsafe {
        let mut sums = [L::splat(0.0); SUMS];
        let mut at = 0;
        while at + SUMS * L::LANES <= x.len() {
            for (vector, sum) in sums.iter_mut().enumerate() {
                let x = L::load(x.as_ptr().add(at + vector * L::LANES));
                *sum = L::fma(x, x, *sum);
            }
            at += SUMS * L::LANES;
        }
        while at + L::LANES <= x.len() {
            let x = L::load(x.as_ptr().add(at));
            sums[0] = L::fma(x, x, sums[0]);
            at += L::LANES;
        }
        let rest: f32 = x[at..].iter().map(|x| x * x).sum();
        L::sum(L::add(L::add(sums[0], sums[1]), L::add(sums[2], sums[3]))) + rest
    };
    1.0 / (squares / x.len() as f32 + eps).sqrt()
}

/// `x * factor * weight`.
///
/// # Safety
/// The processor has the instruction set.
#[inline(always)]
pub(in crate::kernels) unsafe fn normalise<L: Lanes>(
    x: &[f32],
    factor: f32,
    weight: &[f32],
    out: &mut [f32],
) {
    let length = x.len();
    assert!(weight.len() == length && out.len() == length);
    let whole = length / L::LANES * L::LANES;
    for at in (0..whole).step_by(L::LANES) {
        // SAFETY: the caller's promise; there are as many.
        unsafe {
            let scaled = L::mul(L::load(x.as_ptr().add(at)), L::splat(factor));
            L::store(out.as_mut_ptr().add(at), L::mul(scaled, L::load(weight.as_ptr().add(at))));
        }
    }
    for at in whole..length {
        out[at] = x[at] * factor * weight[at];
    }
}

/// `a + b`.
///
/// # Safety
/// The processor has the instruction set.
#[inline(always)]
pub(super) unsafe fn add<L: Lanes>(a: &[f32], b: &[f32], out: &mut [f32]) {
    let length = out.len();
    assert!(a.len() == length && b.len() == length);
    let whole = length / L::LANES * L::LANES;
    for at in (0..whole).step_by(L::LANES) {
        // SAFETY: the caller's promise; there are as many.
        unsafe {
            let sum = L::add(L::load(a.as_ptr().add(at)), L::load(b.as_ptr().add(at)));
            L::store(out.as_mut_ptr().add(at), sum);
        }
    }
    for at in whole..length {
        out[at] = a[at] + b[at];
    }
}
