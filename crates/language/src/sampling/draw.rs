//! One of the candidates at random, by their probabilities.

use super::candidates::{Candidates, Scale};
use super::random::Random;
use super::scan::{BLOCK, block_masses};

/// Draws with one number of `random`; `None` if there is no candidate.
pub(super) fn draw(
    candidates: &mut Candidates,
    logits: &[f32],
    scale: Scale,
    random: &mut Random,
) -> Option<u32> {
    if candidates.all {
        return draw_of_all(candidates, logits, scale, random);
    }
    let mut rest = random.below(candidates.mass(scale));
    for key in &candidates.keys {
        let weight = scale.weight(key.logit());
        if rest < weight {
            return Some(key.token());
        }
        rest -= weight;
    }
    None
}

/// First the block, then the token in it.
fn draw_of_all(
    candidates: &mut Candidates,
    logits: &[f32],
    scale: Scale,
    random: &mut Random,
) -> Option<u32> {
    let masses = &mut candidates.masses;
    masses.clear();
    masses.resize(candidates.maxima.len(), 0.0);
    block_masses(logits, scale.largest, scale.inverse, masses);
    let sum: f64 = masses.iter().map(|&mass| f64::from(mass)).sum();
    let mut rest = random.below(1 << 53) as f64 / (1_u64 << 53) as f64 * sum;
    // Differences round: should `rest` outlast the last one, that is the one.
    let mut block = None;
    for (at, &mass) in masses.iter().enumerate().filter(|&(_, &mass)| mass > 0.0) {
        block = Some(at);
        if rest < f64::from(mass) {
            break;
        }
        rest -= f64::from(mass);
    }
    let first = block? * BLOCK;
    let mut token = None;
    for (at, &logit) in logits.iter().enumerate().take(first + BLOCK).skip(first) {
        let ratio = f64::from(scale.ratio(logit));
        if ratio > 0.0 {
            token = Some(at as u32);
            if rest < ratio {
                break;
            }
            rest -= ratio;
        }
    }
    token
}
