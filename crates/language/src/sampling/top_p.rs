//! Top-p, or nucleus sampling (Holtzman et al. 2019): the fewest that make up p of the probability.

use super::candidates::{Candidates, Key, Scale};
use super::scan::block_masses;

/// Keeps the most probable candidates until their sum reaches `p` of the sum of all, the one that reaches it included.
pub(super) fn apply(candidates: &mut Candidates, logits: &[f32], scale: Scale, p: f32) {
    if p >= 1.0 {
        return;
    }
    let target = if candidates.all {
        collect_nucleus(candidates, logits, scale, p)
    } else {
        share(candidates.mass(scale), p)
    };
    candidates.cut(|keys| boundary(keys, scale, target));
}

/// Takes a few of the most probable tokens, then more, then all, until they make up `p`; models are mostly sure enough for
/// the first few. Gives the mass to reach.
fn collect_nucleus(candidates: &mut Candidates, logits: &[f32], scale: Scale, p: f32) -> u64 {
    candidates.masses.clear();
    candidates.masses.resize(candidates.maxima.len(), 0.0);
    block_masses(logits, scale.largest, scale.inverse, &mut candidates.masses);
    let target = share(Scale::whole(candidates.masses.iter().map(|&mass| f64::from(mass)).sum()), p);
    for count in [64, 1024] {
        let threshold = candidates.reached_by(count);
        candidates.collect(logits, threshold);
        if threshold == f32::NEG_INFINITY || candidates.mass(scale) >= target {
            return target;
        }
    }
    candidates.collect(logits, f32::NEG_INFINITY);
    target
}

fn share(mass: u64, p: f32) -> u64 {
    (mass as f64 * f64::from(p)).ceil() as u64
}

/// The candidate with which the sum, from the most probable on, reaches `target`. Halves and looks into one half only, so
/// that nothing is sorted.
fn boundary(keys: &mut [Key], scale: Scale, target: u64) -> Option<Key> {
    let mut rest = keys;
    let mut missing = target;
    while rest.len() > 1 {
        let half = rest.len() / 2;
        rest.select_nth_unstable(half - 1);
        let (likelier, others) = rest.split_at_mut(half);
        let mass: u64 = likelier.iter().map(|key| scale.weight(key.logit())).sum();
        if mass >= missing {
            rest = likelier;
        } else {
            missing -= mass;
            rest = others;
        }
    }
    rest.first().copied()
}
