//! What is done in vectors, where the processor has them.

#[cfg(target_arch = "x86_64")]
use super::colour;
use super::idct::{self, Square};

/// What the processor can do.
pub(super) trait Processor: Copy {
    /// Transforms a block to 8x8 samples.
    fn to_eight(self, coefficients: &[i16; 64], steps: &[u16; 64], out: Square<'_>);

    /// Transforms a block to 4x4 samples.
    fn to_four(self, coefficients: &[i16; 64], steps: &[u16; 64], out: Square<'_>);

    /// Transforms a block to 2x2 samples.
    fn to_two(self, coefficients: &[i16; 64], steps: &[u16; 64], out: Square<'_>);

    /// Converts pixels from YCbCr, some or all of them, and returns how many. All rows have the length of `out`.
    fn rgb_of_ycbcr(self, y: &[u8], cb: &[u8], cr: &[u8], out: &mut [[u8; 3]]) -> usize;
}

/// Any processor.
#[derive(Clone, Copy)]
pub(super) struct Plain;

impl Processor for Plain {
    #[inline(always)]
    fn to_eight(self, coefficients: &[i16; 64], steps: &[u16; 64], out: Square<'_>) {
        idct::to_eight(coefficients, steps, out);
    }

    #[inline(always)]
    fn to_two(self, coefficients: &[i16; 64], steps: &[u16; 64], out: Square<'_>) {
        idct::to_two(coefficients, steps, out);
    }

    #[inline(always)]
    fn rgb_of_ycbcr(self, _y: &[u8], _cb: &[u8], _cr: &[u8], _out: &mut [[u8; 3]]) -> usize {
        0
    }

    #[inline(always)]
    fn to_four(self, coefficients: &[i16; 64], steps: &[u16; 64], out: Square<'_>) {
        idct::to_four(coefficients, steps, out);
    }
}

/// One with AVX2, as there is no other way to come by it.
#[cfg(target_arch = "x86_64")]
#[derive(Clone, Copy)]
pub(super) struct Avx2(());

#[cfg(target_arch = "x86_64")]
impl Avx2 {
    pub(super) fn detect() -> Option<Self> {
        is_x86_feature_detected!("avx2").then_some(Self(()))
    }
}

#[cfg(target_arch = "x86_64")]
impl Processor for Avx2 {
    #[inline(always)]
    fn to_eight(self, coefficients: &[i16; 64], steps: &[u16; 64], out: Square<'_>) {
        // SAFETY: the processor has AVX2, or there would be no `self`.
        unsafe { idct::avx2::to_eight(coefficients, steps, out) };
    }

    #[inline(always)]
    fn to_two(self, coefficients: &[i16; 64], steps: &[u16; 64], out: Square<'_>) {
        // SAFETY: as above.
        unsafe { idct::avx2::to_two(coefficients, steps, out) };
    }

    #[inline(always)]
    fn rgb_of_ycbcr(self, y: &[u8], cb: &[u8], cr: &[u8], out: &mut [[u8; 3]]) -> usize {
        // SAFETY: as above.
        unsafe { colour::avx2::rgb_of_ycbcr(y, cb, cr, out) }
    }

    #[inline(always)]
    fn to_four(self, coefficients: &[i16; 64], steps: &[u16; 64], out: Square<'_>) {
        // SAFETY: as above.
        unsafe { idct::avx2::to_four(coefficients, steps, out) };
    }
}
