//! With vectors: four perfect shuffles of 16 rows of 16 bytes turn them, in each lane.

use super::scalar::sixteen_from;
use crate::kernels::wide::Wide;

/// # Safety
/// The instruction set of `W` is there.
#[inline(always)]
pub(in crate::kernels) unsafe fn sixteen<W: Wide>(rows: &[u8], columns: usize, out: &mut [u8]) {
    assert!(rows.len() >= 16 * columns && out.len() >= 16 * columns);
    let mut column = 0;
    while column + W::BYTES <= columns {
        // SAFETY: as many columns as a vector has bytes are in all rows, and 16 bytes for each in `out`.
        unsafe {
            let mut values = [W::zero(); 16];
            for (row, value) in values.iter_mut().enumerate() {
                *value = W::load(rows.as_ptr().add(row * columns + column));
            }
            for _ in 0..4 {
                let before = values;
                for at in 0..8 {
                    values[2 * at] = W::unpack_lo8(before[at], before[at + 8]);
                    values[2 * at + 1] = W::unpack_hi8(before[at], before[at + 8]);
                }
            }
            let mut bytes = [0_u8; 64];
            for (at, value) in values.into_iter().enumerate() {
                W::store(bytes.as_mut_ptr(), value);
                for lane in 0..W::LANES {
                    let to = out.as_mut_ptr().add(16 * (column + 16 * lane + at));
                    bytes.as_ptr().add(16 * lane).copy_to_nonoverlapping(to, 16);
                }
            }
        }
        column += W::BYTES;
    }
    sixteen_from(rows, columns, column, out);
}
