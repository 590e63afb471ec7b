//! With vectors.

use super::scalar::{same_size_four_from, same_size_from, yuv_to_rgb_from};
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

/// As [`yuv_to_rgb`], of a row of 4:2:0 at its own size: see [`same_size`](super::same_size).
///
/// # Safety
/// The instruction set of `W` is there.
#[inline(always)]
pub(in crate::kernels) unsafe fn same_size<W: Wide>(
    y: &[u8],
    chroma: [&[i16]; 2],
    nearest: bool,
    by: &FixedYuvToRgb,
    out: [&mut [u8]; 3],
) {
    let [red, green, blue] = out;
    let len = red.len();
    assert!(y.len() >= len && green.len() == len && blue.len() == len);
    assert!(chroma[0].len() >= len.div_ceil(2) + 2 && chroma[1].len() >= len.div_ceil(2) + 2);
    let mut index = 0;
    // SAFETY: `at + W::BYTES` columns are in all lines, and half as many chroma samples and one on either side.
    unsafe {
        let factors = Factors::<W>::of_scaled(by);
        while let Some(at) = next_even(index, len, W::BYTES) {
            let [r, g, b] = if nearest {
                factors.convert_same_size::<true>(y, chroma, at)
            } else {
                factors.convert_same_size::<false>(y, chroma, at)
            };
            W::store(red.as_mut_ptr().add(at), r);
            W::store(green.as_mut_ptr().add(at), g);
            W::store(blue.as_mut_ptr().add(at), b);
            index = at + W::BYTES;
        }
    }
    same_size_from(y, chroma, nearest, by, index, [red, green, blue]);
}

/// As [`same_size`], to pixels of four bytes.
///
/// # Safety
/// The instruction set of `W` is there.
#[inline(always)]
pub(in crate::kernels) unsafe fn same_size_four<W: Wide>(
    y: &[u8],
    chroma: [&[i16]; 2],
    nearest: bool,
    by: &FixedYuvToRgb,
    blue_first: bool,
    out: &mut [u8],
) {
    let len = out.len() / 4;
    assert!(y.len() >= len);
    assert!(chroma[0].len() >= len.div_ceil(2) + 2 && chroma[1].len() >= len.div_ceil(2) + 2);
    // SAFETY: lines are as long as `four` needs them.
    let index = unsafe {
        match (nearest, blue_first) {
            (false, false) => four::<W, false, false>(y, chroma, by, out),
            (false, true) => four::<W, false, true>(y, chroma, by, out),
            (true, false) => four::<W, true, false>(y, chroma, by, out),
            (true, true) => four::<W, true, true>(y, chroma, by, out),
        }
    };
    same_size_four_from(y, chroma, nearest, by, blue_first, index, out);
}

/// As many columns as vectors can do; gives how many those were.
#[inline(always)]
unsafe fn four<W: Wide, const NEAREST: bool, const BLUE_FIRST: bool>(
    y: &[u8],
    chroma: [&[i16]; 2],
    by: &FixedYuvToRgb,
    out: &mut [u8],
) -> usize {
    let len = out.len() / 4;
    // The second vector begins where writing is aligned, so that the first is written in part once more.
    let aligned = out.as_ptr().align_offset(64) / 4;
    let second = if aligned.is_multiple_of(2) && aligned > 0 { aligned.min(W::BYTES) } else { W::BYTES };
    let mut index = 0;
    // SAFETY: as in `same_size`; there are four bytes in `out` for each column.
    unsafe {
        let factors = Factors::<W>::of_scaled(by);
        let opaque = W::splat16(-1);
        while let Some(at) = next_even(index, len, W::BYTES) {
            let [r, g, b] = factors.convert_same_size::<NEAREST>(y, chroma, at);
            let (r, b) = if BLUE_FIRST { (b, r) } else { (r, b) };
            W::store_pixels(out.as_mut_ptr().add(4 * at), r, g, b, opaque);
            index = if index == 0 { second } else { at + W::BYTES };
        }
    }
    index
}

/// Where the next `step` of `len` columns begin: at `index`, or before it at the end, at an even column. None if there are
/// none, or they cannot be.
#[inline(always)]
fn next_even(index: usize, len: usize, step: usize) -> Option<usize> {
    if index + step <= len {
        Some(index)
    } else if index < len && len >= step && len.is_multiple_of(2) {
        Some(len - step)
    } else {
        None
    }
}

/// Chroma of the pixels whose bytes [`Wide::unpack_lo8`] takes, and of those for [`Wide::unpack_hi8`]: 256 times what it
/// is, less its middle.
#[inline(always)]
unsafe fn upsample<W: Wide, const NEAREST: bool>(before: *const i16) -> [W::V; 2] {
    // SAFETY: as in `same_size`.
    unsafe {
        let near = W::load(before.add(1).cast());
        if NEAREST {
            return [W::unpack_lo16(near, near), W::unpack_hi16(near, near)];
        }
        let thrice = W::add16(W::add16(near, near), near);
        let even = W::add16(thrice, W::load(before.cast()));
        let odd = W::add16(thrice, W::load(before.add(2).cast()));
        [W::unpack_lo16(even, odd), W::unpack_hi16(even, odd)]
    }
}

/// The coefficients, each in all places of a vector.
#[derive(Clone, Copy)]
struct Factors<W: Wide> {
    luma: W::V,
    bias: W::V,
    v_to_red: W::V,
    u_to_green: W::V,
    v_to_green: W::V,
    u_to_blue: W::V,
}

impl<W: Wide> Factors<W> {
    /// For [`Self::convert`]: each coefficient less 1, for the product with 1 is there already.
    #[inline(always)]
    unsafe fn new(by: &FixedYuvToRgb) -> Self {
        // SAFETY: as the caller promises.
        unsafe {
            Self {
                luma: W::splat16((2 * i32::from(by.luma) - (1 << 15)) as i16),
                bias: W::splat16(by.bias),
                v_to_red: W::splat16((2 * i32::from(by.v_to_red) - (1 << 14)) as i16),
                u_to_green: W::splat16((2 * i32::from(by.u_to_green) - (1 << 14)) as i16),
                v_to_green: W::splat16((2 * i32::from(by.v_to_green) - (1 << 14)) as i16),
                u_to_blue: W::splat16((2 * i32::from(by.u_to_blue) - (1 << 14)) as i16),
            }
        }
    }

    /// For [`Self::convert_scaled`].
    #[inline(always)]
    unsafe fn of_scaled(by: &FixedYuvToRgb) -> Self {
        // SAFETY: as the caller promises.
        unsafe {
            Self {
                luma: W::splat16(by.luma),
                bias: W::splat16(by.bias),
                v_to_red: W::splat16(by.v_to_red),
                u_to_green: W::splat16(by.u_to_green),
                v_to_green: W::splat16(by.v_to_green),
                u_to_blue: W::splat16(by.u_to_blue),
            }
        }
    }

    /// Red, green and blue as 16-bit numbers, not yet cut to bytes.
    #[inline(always)]
    unsafe fn convert(&self, y: W::V, u: W::V, v: W::V) -> [W::V; 3] {
        // SAFETY: as the caller promises.
        unsafe {
            let luma = W::add16(W::add16(y, W::mulhrs16(y, self.luma)), self.bias);
            let middle = W::splat16(MIDDLE);
            let (u, v) = (W::sub16(u, middle), W::sub16(v, middle));
            let (twice_u, twice_v) = (W::add16(u, u), W::add16(v, v));
            let red = W::adds16(luma, W::add16(v, W::mulhrs16(twice_v, self.v_to_red)));
            let green = W::adds16(luma, W::add16(u, W::mulhrs16(twice_u, self.u_to_green)));
            let green = W::adds16(green, W::add16(v, W::mulhrs16(twice_v, self.v_to_green)));
            let blue = W::adds16(luma, W::add16(u, W::mulhrs16(twice_u, self.u_to_blue)));
            Self::whole(red, green, blue)
        }
    }

    /// As [`Self::convert`], from a luma that is twice as large, and chroma less its middle that is four times as large.
    #[inline(always)]
    unsafe fn convert_scaled(&self, y: W::V, u: W::V, v: W::V) -> [W::V; 3] {
        // SAFETY: as the caller promises.
        unsafe {
            let luma = W::add16(W::mulhrs16(y, self.luma), self.bias);
            let red = W::adds16(luma, W::mulhrs16(v, self.v_to_red));
            let green = W::adds16(luma, W::mulhrs16(u, self.u_to_green));
            let green = W::adds16(green, W::mulhrs16(v, self.v_to_green));
            let blue = W::adds16(luma, W::mulhrs16(u, self.u_to_blue));
            Self::whole(red, green, blue)
        }
    }

    /// Red, green and blue bytes of 4:2:0 at its own size, from column `index` on.
    #[inline(always)]
    unsafe fn convert_same_size<const NEAREST: bool>(
        &self,
        y: &[u8],
        chroma: [&[i16]; 2],
        index: usize,
    ) -> [W::V; 3] {
        // SAFETY: as the caller promises.
        unsafe {
            let zero = W::zero();
            let luma = W::load(y.as_ptr().add(index));
            // Bytes in the upper halves are 256 times as large; the product needs 128.
            let luma = [W::shr16::<1>(W::unpack_lo8(zero, luma)), W::shr16::<1>(W::unpack_hi8(zero, luma))];
            let u = upsample::<W, NEAREST>(chroma[0].as_ptr().add(index / 2));
            let v = upsample::<W, NEAREST>(chroma[1].as_ptr().add(index / 2));
            let low = self.convert_scaled(luma[0], u[0], v[0]);
            let high = self.convert_scaled(luma[1], u[1], v[1]);
            [W::packus16(low[0], high[0]), W::packus16(low[1], high[1]), W::packus16(low[2], high[2])]
        }
    }

    #[inline(always)]
    unsafe fn whole(red: W::V, green: W::V, blue: W::V) -> [W::V; 3] {
        // SAFETY: as the caller promises.
        unsafe {
            [
                W::sar16::<{ SAMPLE_BITS as i32 }>(red),
                W::sar16::<{ SAMPLE_BITS as i32 }>(green),
                W::sar16::<{ SAMPLE_BITS as i32 }>(blue),
            ]
        }
    }
}
