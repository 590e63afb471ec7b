//! Min-p (Nguyen et al. 2024): no less than a share of the most probable token's probability.

use super::candidates::{Candidates, Scale};

/// Keeps the candidates with at least `min_p` of the largest probability.
pub(super) fn apply(candidates: &mut Candidates, logits: &[f32], scale: Scale, min_p: f32) {
    if min_p <= 0.0 {
        return;
    }
    if candidates.all {
        // A little below, as logarithms are not the same everywhere: the ratio decides.
        let threshold = scale.largest + (min_p.ln() - 0.01) / scale.inverse;
        candidates.collect(logits, threshold);
    }
    candidates.keys.retain(|key| scale.ratio(key.logit()) >= min_p);
}
