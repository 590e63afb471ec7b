//! Top-k (Fan et al. 2018): the k most probable.

use super::candidates::Candidates;

/// Keeps `k` candidates, of equal ones the lowest ids.
pub(super) fn apply(candidates: &mut Candidates, logits: &[f32], k: usize) {
    if k == 0 || k >= logits.len() {
        return;
    }
    let threshold = candidates.reached_by(k);
    candidates.collect(logits, threshold);
    if candidates.keys.len() > k {
        candidates.cut(|keys| Some(*keys.select_nth_unstable(k - 1).1));
    }
}
