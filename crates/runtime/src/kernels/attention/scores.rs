//! Dot products of a few rows' queries with keys as they lie in the cache.

use super::element::Element;
use crate::kernels::lanes::{Lanes, PARTS};

/// The products of `R` queries with `count` keys, one after the other, all of `dim` elements. `out[row]` may be written up
/// to the next multiple of 4.
///
/// # Safety
/// As for [`Lanes`].
#[inline(always)]
pub(super) unsafe fn scores<L: Lanes, E: Element, const R: usize>(
    rows: [*const f32; R],
    keys: *const E::Stored,
    count: usize,
    dim: usize,
    out: [*mut f32; R],
) {
    // SAFETY: the caller's promise; no key past the last one is read.
    unsafe {
        for key in (0..count).step_by(4) {
            let mut four = [keys; 4];
            for (at, pointer) in four.iter_mut().enumerate() {
                *pointer = keys.add((key + at).min(count - 1) * dim);
            }
            let mut sums = [[L::parts_zero(); 4]; R];
            for part in (0..dim).step_by(PARTS) {
                let mut queries = [L::parts_zero(); R];
                for row in 0..R {
                    queries[row] = L::parts_load(rows[row].add(part));
                }
                for at in 0..4 {
                    let elements = E::parts::<L>(four[at].add(part));
                    for row in 0..R {
                        sums[row][at] = L::parts_fma(queries[row], elements, sums[row][at]);
                    }
                }
            }
            for row in 0..R {
                out[row].add(key).cast::<[f32; 4]>().write(L::parts_sum(sums[row]));
            }
        }
    }
}
