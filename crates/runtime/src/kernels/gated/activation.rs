//! The activations.

use crate::kernels::lanes::{Lanes, sigmoid};

/// Which one.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Activation {
    Silu,
    GeluTanh,
}

impl Activation {
    /// # Errors
    /// If there is none of the name.
    pub(super) fn named(name: &str) -> Result<Self, String> {
        match name {
            "silu" => Ok(Self::Silu),
            "gelu_tanh" => Ok(Self::GeluTanh),
            _ => Err(format!("activation is `{name}`, not `silu` or `gelu_tanh`")),
        }
    }
}

/// A function of each lane.
pub(super) trait Function {
    /// # Safety
    /// The processor has the instruction set.
    unsafe fn of<L: Lanes>(x: L::F) -> L::F;
}

/// `x * sigmoid(x)`
pub(super) struct Silu;

impl Function for Silu {
    #[inline(always)]
    unsafe fn of<L: Lanes>(x: L::F) -> L::F {
        // SAFETY: the caller's promise.
        unsafe { L::mul(x, sigmoid::<L>(x)) }
    }
}

/// `x / 2 * (1 + tanh(sqrt(2 / pi) * (x + 0.044715 * x^3)))`, which is `x * sigmoid` of twice what tanh is taken of.
pub(super) struct GeluTanh;

impl Function for GeluTanh {
    #[inline(always)]
    unsafe fn of<L: Lanes>(x: L::F) -> L::F {
        /// `2 * sqrt(2 / pi)`
        const FACTOR: f32 = 1.595_769;
        // SAFETY: the caller's promise.
        unsafe {
            let cubic = L::fma(L::mul(x, x), L::splat(FACTOR * 0.044_715), L::splat(FACTOR));
            L::mul(x, sigmoid::<L>(L::mul(x, cubic)))
        }
    }
}
