//! With dot products: four rows at a time, interleaved, weights in two parts of 7 bits.

use super::scalar::SHIFT;
use crate::kernels::Rows;
use crate::kernels::wide::Wide;

/// Bits of the lower part of a weight.
const LOW_BITS: u32 = 7;
/// The most rows that are done this way.
const MOST: usize = 64;

/// Rows and weights by fours.
pub(super) struct Quads {
    rows: [*const u8; MOST],
    /// The upper and the lower parts of four weights, a byte each.
    weights: [[u32; 2]; MOST / 4],
    count: usize,
}

impl Quads {
    /// The rows, if there are no more than fit, more than two, and no weight is negative. A weight of 1 has none beside it.
    #[inline(always)]
    pub(super) fn of(rows: &Rows<'_>, weights: &[i16]) -> Option<Self> {
        let count = rows.count();
        if !(3..=MOST).contains(&count) {
            return None;
        }
        let mut quads = Self { rows: [rows.get(0).as_ptr(); MOST], weights: [[0; 2]; MOST / 4], count: 0 };
        let mut signs = 0;
        for (row, &weight) in weights.iter().enumerate().take(count) {
            signs |= weight;
            quads.rows[row] = rows.get(row).as_ptr();
            let place = 8 * (row % 4);
            let [high, low] = &mut quads.weights[row / 4];
            *high |= (weight as u32 >> LOW_BITS & 0x7f) << place;
            *low |= (weight as u32 & ((1 << LOW_BITS) - 1)) << place;
        }
        quads.count = count.div_ceil(4);
        (signs >= 0 && weights[..count].iter().all(|&weight| weight < 1 << (2 * LOW_BITS))).then_some(quads)
    }

    /// The weighted sums of a vector of bytes from `column` on, as 16-bit numbers: those of the lower halves of lanes, then
    /// those of the upper halves.
    ///
    /// # Safety
    /// The instruction set of `W` is there and has dot products, and all rows have that many bytes.
    #[inline(always)]
    pub(super) unsafe fn mix<W: Wide>(&self, column: usize) -> [W::V; 2] {
        // SAFETY: as the caller promises.
        unsafe {
            let mut sums = [[W::zero(); 2]; 4];
            for quad in 0..self.count {
                let high = W::splat32(self.weights[quad][0].cast_signed());
                let low = W::splat32(self.weights[quad][1].cast_signed());
                let rows = self.rows.as_ptr().add(4 * quad);
                let (a, b) = (W::load((*rows).add(column)), W::load((*rows.add(1)).add(column)));
                let (c, d) = (W::load((*rows.add(2)).add(column)), W::load((*rows.add(3)).add(column)));
                let (ab, cd) = (W::unpack_lo8(a, b), W::unpack_lo8(c, d));
                let (ab_high, cd_high) = (W::unpack_hi8(a, b), W::unpack_hi8(c, d));
                let fours = [
                    W::unpack_lo16(ab, cd),
                    W::unpack_hi16(ab, cd),
                    W::unpack_lo16(ab_high, cd_high),
                    W::unpack_hi16(ab_high, cd_high),
                ];
                for (sums, four) in sums.iter_mut().zip(fours) {
                    *sums = [W::dot(sums[0], four, high), W::dot(sums[1], four, low)];
                }
            }
            let [a, b, c, d] = sums;
            [W::packs32(whole::<W>(a), whole::<W>(b)), W::packs32(whole::<W>(c), whole::<W>(d))]
        }
    }
}

/// Both parts together, rounded.
#[inline(always)]
unsafe fn whole<W: Wide>([high, low]: [W::V; 2]) -> W::V {
    // SAFETY: as the caller promises.
    unsafe {
        let sum = W::add32(W::shl32::<{ LOW_BITS as i32 }>(high), low);
        W::sar32::<{ SHIFT as i32 }>(W::add32(sum, W::splat32(1 << (SHIFT - 1))))
    }
}
