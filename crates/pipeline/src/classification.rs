//! Labels and scores from a classifier's output.

use crate::error::{Error, Result};
use crate::package::manifest::Output;
use std::sync::Arc;

/// A class and how much the model believes in it.
#[derive(Debug, Clone, PartialEq)]
pub struct Label {
    /// The class.
    pub index: u32,
    /// Its name in the package's labels.
    pub name: Arc<str>,
    /// Its probability, 0..=1.
    pub score: f32,
}

/// Fills `labels` with the `top` best classes of `scores`, best first; of equal ones the lower index comes first.
///
/// `labels` is emptied first, its capacity reused. `scores` has one value a class.
///
/// # Errors
/// [`Error::NotFinite`] if a score is NaN or infinite.
pub(crate) fn rank(
    scores: &[f32],
    names: &[Arc<str>],
    output: Output,
    top: usize,
    labels: &mut Vec<Label>,
) -> Result<()> {
    labels.clear();
    if let Some(index) = scores.iter().position(|score| !score.is_finite()) {
        return Err(Error::NotFinite { index, value: scores[index] });
    }
    for (index, (&score, name)) in scores.iter().zip(names).enumerate() {
        let place = labels.partition_point(|better| better.score >= score);
        if place == top {
            continue;
        }
        if labels.len() == top {
            labels.pop();
        }
        labels.insert(place, Label { index: index as u32, name: Arc::clone(name), score });
    }
    if output == Output::Logits {
        softmax(scores, labels);
    }
    Ok(())
}

/// Turns the scores of `labels`, which are some of `logits`, into probabilities among all of them.
fn softmax(logits: &[f32], labels: &mut [Label]) {
    let largest = logits.iter().copied().fold(f32::NEG_INFINITY, f32::max);
    let sum: f32 = logits.iter().map(|logit| (logit - largest).exp()).sum();
    for label in labels {
        label.score = (label.score - largest).exp() / sum;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn names() -> Vec<Arc<str>> {
        ["a", "b", "c", "d"].map(Arc::from).to_vec()
    }

    fn ranked(scores: &[f32], output: Output, top: usize) -> Vec<(u32, f32)> {
        let mut labels = Vec::new();
        rank(scores, &names(), output, top, &mut labels).unwrap();
        labels.iter().map(|label| (label.index, label.score)).collect()
    }

    #[test]
    fn the_best_come_first_and_equal_ones_by_index() {
        let found = ranked(&[0.1, 0.4, 0.1, 0.4], Output::Probabilities, 3);
        assert_eq!(found, [(1, 0.4), (3, 0.4), (0, 0.1)]);
    }

    #[test]
    fn logits_become_probabilities_among_all_classes() {
        let found = ranked(&[1000.0, 1000.0, 1000.0, 1000.0], Output::Logits, 1);
        assert_eq!(found, [(0, 0.25)]);
    }

    #[test]
    fn more_labels_than_classes_gives_all_classes() {
        assert_eq!(ranked(&[0.4, 0.3, 0.2, 0.1], Output::Probabilities, 9).len(), 4);
    }

    #[test]
    fn a_score_that_is_not_a_number_is_refused_by_class() {
        let error =
            rank(&[0.0, f32::NAN, 0.0, 0.0], &names(), Output::Logits, 1, &mut Vec::new()).unwrap_err();
        assert!(matches!(error, Error::NotFinite { index: 1, .. }), "{error}");
    }
}
