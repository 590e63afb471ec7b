//! The same code for what the processor can do.

use super::Decoder;
#[cfg(target_arch = "x86_64")]
use super::processor::Avx2;
use super::processor::Plain;
use super::scan::Scan;
use crate::Result;

/// Reads all scans into the picture.
pub(super) fn run(decoder: &mut Decoder<'_>, first: Scan, buffered: bool) -> Result<()> {
    #[cfg(target_arch = "x86_64")]
    if let Some(avx2) = Avx2::detect()
        && is_x86_feature_detected!("bmi1")
        && is_x86_feature_detected!("bmi2")
    {
        // SAFETY: the processor has what the function is compiled for.
        return unsafe { run_avx2(decoder, avx2, first, buffered) };
    }
    decoder.scans(Plain, first, buffered)
}

/// Plain x86-64 has no multiplication of 32-bit vectors, and shifts that wait for the flags.
#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx2,bmi1,bmi2")]
fn run_avx2(decoder: &mut Decoder<'_>, avx2: Avx2, first: Scan, buffered: bool) -> Result<()> {
    decoder.scans(avx2, first, buffered)
}
