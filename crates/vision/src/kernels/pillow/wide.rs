//! With vectors.

use super::ROUND;
use super::scalar::{horizontal_some, vertical_from};
use crate::kernels::Rows;
use crate::kernels::rows::Pairs;
use crate::kernels::wide::Wide;
use crate::taps::{PILLOW_BITS, PILLOW_LOW_BITS, Taps};

/// # Safety
/// The instruction set of `W` is there.
#[inline(always)]
pub(in crate::kernels) unsafe fn vertical<W: Wide>(
    rows: &Rows<'_>,
    high: &[i16],
    low: &[i16],
    out: &mut [u8],
) {
    let len = out.len();
    let weights = rows.count().next_multiple_of(2);
    assert!(len <= rows.len() && high.len() >= weights && low.len() >= weights);
    if len < W::BYTES {
        return vertical_from(rows, high, low, 0, out);
    }
    let pairs = rows.pairs();
    let mut column = 0;
    while column < len {
        // What is left is done from the end, some of it once more.
        let at = column.min(len - W::BYTES);
        // SAFETY: columns up to `len` are in all rows and in `out`; the weights are as many as rows, rounded up to
        // even.
        unsafe { W::store(out.as_mut_ptr().add(at), columns::<W>(&pairs, high, low, at)) };
        column += W::BYTES;
    }
}

/// A vector of the bytes from `column` on.
#[inline(always)]
unsafe fn columns<W: Wide>(pairs: &Pairs, high: &[i16], low: &[i16], column: usize) -> W::V {
    // SAFETY: as in `vertical`.
    unsafe {
        let mut sums = [[W::zero(); 2]; 4];
        let (mut high, mut low) = (high.as_ptr(), low.as_ptr());
        let mut row = pairs.first.add(column);
        for _ in 0..pairs.regular {
            add::<W>(&mut sums, row, row.wrapping_add(pairs.stride), high, low);
            row = row.wrapping_add(2 * pairs.stride);
            high = high.add(2);
            low = low.add(2);
        }
        if let Some([first, second]) = pairs.rest {
            add::<W>(&mut sums, first.add(column), second.add(column), high, low);
        }
        let [a, b, c, d] = sums;
        let first = W::packs32(whole::<W>(a), whole::<W>(b));
        W::packus16(first, W::packs32(whole::<W>(c), whole::<W>(d)))
    }
}

/// Adds two rows by their weights.
#[inline(always)]
unsafe fn add<W: Wide>(
    sums: &mut [[W::V; 2]; 4],
    first: *const u8,
    second: *const u8,
    high: *const i16,
    low: *const i16,
) {
    // SAFETY: as in `vertical`.
    unsafe {
        let zero = W::zero();
        let high = W::splat32(high.cast::<i32>().read_unaligned());
        let low = W::splat32(low.cast::<i32>().read_unaligned());
        let (a, b) = (W::load(first), W::load(second));
        let halves = [W::unpack_lo8(a, b), W::unpack_hi8(a, b)];
        let bytes = [
            W::unpack_lo8(halves[0], zero),
            W::unpack_hi8(halves[0], zero),
            W::unpack_lo8(halves[1], zero),
            W::unpack_hi8(halves[1], zero),
        ];
        for (sums, bytes) in sums.iter_mut().zip(bytes) {
            *sums = [W::madd(sums[0], bytes, high), W::madd(sums[1], bytes, low)];
        }
    }
}

/// The sums of both parts as whole numbers.
#[inline(always)]
unsafe fn whole<W: Wide>([high, low]: [W::V; 2]) -> W::V {
    // SAFETY: as the caller promises.
    unsafe {
        let sum = W::add32(W::shl32::<{ PILLOW_LOW_BITS as i32 }>(high), low);
        W::sar32::<{ PILLOW_BITS as i32 }>(W::add32(sum, W::splat32(ROUND)))
    }
}

/// # Safety
/// The instruction set of `W` is there.
#[inline(always)]
pub(in crate::kernels) unsafe fn horizontal<W: Wide>(
    row: &[u8],
    pixel_stride: usize,
    channels: usize,
    taps: &Taps,
    out: &mut [u8],
) {
    assert!(out.len() >= taps.len() * channels);
    match (pixel_stride, channels) {
        // SAFETY: as the caller promises.
        (3, 3) => unsafe { pixels::<W, 3>(row, taps, out) },
        // SAFETY: as the caller promises.
        (4, 3) => unsafe { pixels::<W, 4>(row, taps, out) },
        _ => horizontal_some(row, pixel_stride, channels, taps, 0..taps.len(), out),
    }
}

/// Three channels of pixels every `N` bytes: four taps of as many outputs as there are lanes at a time.
#[inline(always)]
unsafe fn pixels<W: Wide, const N: usize>(row: &[u8], taps: &Taps, out: &mut [u8]) {
    // Four pixels are read as 16 bytes, also where they are 12.
    let reach = taps.most().next_multiple_of(4) * N + (16 - 4 * N);
    let mut index = 0;
    while index < taps.len() {
        let end = index + W::LANES;
        let starts = taps.starts().get(index..end).unwrap_or(&[]);
        let mut readable = starts.len() == W::LANES;
        for &start in starts {
            readable &= start as usize * N + reach <= row.len();
        }
        if readable {
            let mut bytes = [0; 64];
            // SAFETY: all outputs can read `reach` bytes from their start; a vector has at most 64 bytes.
            unsafe { W::store(bytes.as_mut_ptr(), lanes::<W, N>(row, taps, index)) };
            for (lane, index) in (index..end).enumerate() {
                out[3 * index..][..3].copy_from_slice(&bytes[16 * lane..][..3]);
            }
        } else {
            horizontal_some(row, N, 3, taps, index..end.min(taps.len()), out);
        }
        index = end;
    }
}

/// The pixels of the outputs from `first` on, one at the start of each lane.
#[inline(always)]
unsafe fn lanes<W: Wide, const N: usize>(row: &[u8], taps: &Taps, first: usize) -> W::V {
    /// The channels of two pixels side by side, widened to 16 bits.
    const fn pair<const N: usize>(first: usize) -> [u8; 16] {
        let mut table = [128; 16];
        let mut channel = 0;
        while channel < 3 {
            table[4 * channel] = (first * N + channel) as u8;
            table[4 * channel + 2] = ((first + 1) * N + channel) as u8;
            channel += 1;
        }
        table
    }
    const fn repeated(at: u8) -> [u8; 16] {
        let [a, b, c, d] = [at, at + 1, at + 2, at + 3];
        [a, b, c, d, a, b, c, d, a, b, c, d, a, b, c, d]
    }
    // SAFETY: as in `pixels`; the tables of weights have room for 8 beyond the last row.
    unsafe {
        let pairs = [W::splat_lane(pair::<N>(0)), W::splat_lane(pair::<N>(2))];
        let spread = [W::splat_lane(repeated(0)), W::splat_lane(repeated(4))];
        // Pixels, and both parts of the weights.
        let mut from = [[std::ptr::null::<u8>(); 4]; 3];
        let [pixels, high, low] = &mut from;
        for (lane, ((pixels, high), low)) in pixels.iter_mut().zip(high).zip(low).enumerate().take(W::LANES) {
            let weights = (first + lane) * taps.stride();
            *pixels = row.as_ptr().add(taps.starts()[first + lane] as usize * N);
            *high = taps.weights().as_ptr().add(weights).cast();
            *low = taps.low_weights().as_ptr().add(weights).cast();
        }
        let mut sums = [[W::zero(); 2]; 2];
        for _ in 0..taps.most().div_ceil(4) {
            let four = W::load_lanes(from[0]);
            let two = [W::shuffle8(four, pairs[0]), W::shuffle8(four, pairs[1])];
            for (sums, from) in sums.iter_mut().zip([from[1], from[2]]) {
                let weights = W::load_lanes(from);
                sums[0] = W::madd(sums[0], two[0], W::shuffle8(weights, spread[0]));
                sums[1] = W::madd(sums[1], two[1], W::shuffle8(weights, spread[1]));
            }
            for (pointers, step) in from.iter_mut().zip([4 * N, 8, 8]) {
                for pointer in pointers {
                    *pointer = pointer.wrapping_add(step);
                }
            }
        }
        let [[high_even, high_odd], [low_even, low_odd]] = sums;
        let whole = whole::<W>([W::add32(high_even, high_odd), W::add32(low_even, low_odd)]);
        let packed = W::packs32(whole, whole);
        W::packus16(packed, packed)
    }
}
