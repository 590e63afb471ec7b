//! With vectors.

use super::scalar::yuv_to_rgb_from;
use super::{FixedYuvToRgb, MIDDLE};
use crate::kernels::SAMPLE_BITS;
use crate::kernels::wide::Wide;

/// # Safety
/// The instruction set of `W` is there.
#[inline(always)]
pub(in crate::kernels) unsafe fn yuv_to_rgb<W: Wide>(
    lines: [&[i16]; 3],
    by: &FixedYuvToRgb,
    out: [&mut [u8]; 3],
) {
    let len = out[0].len();
    assert!(lines.iter().all(|line| line.len() >= len) && out.iter().all(|line| line.len() == len));
    if len < W::BYTES {
        return yuv_to_rgb_from(lines, by, 0, out);
    }
    let [red, green, blue] = out;
    let mut index = 0;
    while index < len {
        // What is left is done from the end, some of it once more.
        let first = index.min(len - W::BYTES);
        // SAFETY: `first + W::BYTES` columns are in all lines.
        unsafe {
            let factors = Factors::<W>::new(by);
            let mut halves = [[W::zero(); 3]; 2];
            for (at, half) in halves.iter_mut().enumerate() {
                let at = first + at * W::BYTES / 2;
                let y = W::load(lines[0].as_ptr().add(at).cast());
                let u = W::load(lines[1].as_ptr().add(at).cast());
                let v = W::load(lines[2].as_ptr().add(at).cast());
                *half = factors.convert(y, u, v);
            }
            let [low, high] = halves;
            W::store(red.as_mut_ptr().add(first), W::in_order(W::packus16(low[0], high[0])));
            W::store(green.as_mut_ptr().add(first), W::in_order(W::packus16(low[1], high[1])));
            W::store(blue.as_mut_ptr().add(first), W::in_order(W::packus16(low[2], high[2])));
        }
        index += W::BYTES;
    }
}

/// The coefficients, each in all places of a vector.
#[derive(Clone, Copy)]
pub(in crate::kernels) struct Factors<W: Wide> {
    luma: W::V,
    bias: W::V,
    v_to_red: W::V,
    u_to_green: W::V,
    v_to_green: W::V,
    u_to_blue: W::V,
    middle: W::V,
}

impl<W: Wide> Factors<W> {
    /// # Safety
    /// As of [`Wide`].
    #[inline(always)]
    pub(in crate::kernels) unsafe fn new(by: &FixedYuvToRgb) -> Self {
        // SAFETY: as the caller promises.
        unsafe {
            Self {
                luma: W::splat16(by.luma),
                bias: W::splat16(by.bias),
                v_to_red: W::splat16(by.v_to_red),
                u_to_green: W::splat16(by.u_to_green),
                v_to_green: W::splat16(by.v_to_green),
                u_to_blue: W::splat16(by.u_to_blue),
                middle: W::splat16(MIDDLE),
            }
        }
    }

    /// Red, green and blue as 16-bit numbers, not yet cut to bytes.
    ///
    /// # Safety
    /// As of [`Wide`].
    #[inline(always)]
    pub(in crate::kernels) unsafe fn convert(&self, y: W::V, u: W::V, v: W::V) -> [W::V; 3] {
        // SAFETY: as the caller promises.
        unsafe {
            let luma = W::add16(W::add16(y, W::mulhrs16(y, self.luma)), self.bias);
            let (u, v) = (W::sub16(u, self.middle), W::sub16(v, self.middle));
            let (twice_u, twice_v) = (W::add16(u, u), W::add16(v, v));
            let red = W::adds16(luma, W::add16(v, W::mulhrs16(twice_v, self.v_to_red)));
            let green = W::adds16(luma, W::add16(u, W::mulhrs16(twice_u, self.u_to_green)));
            let green = W::adds16(green, W::add16(v, W::mulhrs16(twice_v, self.v_to_green)));
            let blue = W::adds16(luma, W::add16(u, W::mulhrs16(twice_u, self.u_to_blue)));
            [
                W::sar16::<{ SAMPLE_BITS as i32 }>(red),
                W::sar16::<{ SAMPLE_BITS as i32 }>(green),
                W::sar16::<{ SAMPLE_BITS as i32 }>(blue),
            ]
        }
    }
}
