//! Penalties on what was said before: repetition, frequency, presence.

use super::options::SamplingOptions;
use serde::{Deserialize, Serialize};
use std::collections::VecDeque;

/// How often each token of the window was there.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub(super) struct Window {
    /// The tokens and whether they were generated, oldest first. Kept only where the window is shorter than the text.
    recent: VecDeque<(u32, bool)>,
    /// By id, ascending: small beside a count for every token of a vocabulary, which each fork would have to copy.
    counts: Vec<Count>,
}

#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
struct Count {
    token: u32,
    total: u32,
    generated: u32,
}

impl Window {
    /// Room for `tokens` more, so that accepting them allocates nothing.
    pub(super) fn reserve(&mut self, tokens: usize, window: Option<u32>) {
        let longest = window.map_or(usize::MAX, |window| window as usize + 1);
        let counts = (self.counts.len() + tokens).min(longest);
        self.counts.reserve(counts.saturating_sub(self.counts.len()));
        if window.is_some() {
            let recent = (self.recent.len() + tokens).min(longest);
            self.recent.reserve(recent.saturating_sub(self.recent.len()));
        }
    }

    pub(super) fn push(&mut self, token: u32, generated: bool, window: Option<u32>) {
        self.add(token, generated);
        let Some(window) = window else { return };
        self.recent.push_back((token, generated));
        while self.recent.len() > window as usize {
            let Some((token, generated)) = self.recent.pop_front() else { break };
            self.remove(token, generated);
        }
    }

    /// Whether tokens and counts are within `vocab_size`: a saved state may have been changed.
    pub(super) fn is_within(&self, vocab_size: usize) -> bool {
        let sorted = self.counts.windows(2).all(|pair| pair[0].token < pair[1].token);
        let within = |token: u32| (token as usize) < vocab_size;
        sorted
            && self.counts.iter().all(|count| within(count.token) && count.generated <= count.total)
            && self.recent.iter().all(|&(token, _)| within(token) && self.find(token).is_ok())
    }

    fn find(&self, token: u32) -> Result<usize, usize> {
        self.counts.binary_search_by_key(&token, |count| count.token)
    }

    fn add(&mut self, token: u32, generated: bool) {
        let at = self.find(token).unwrap_or_else(|at| {
            self.counts.insert(at, Count { token, total: 0, generated: 0 });
            at
        });
        let count = &mut self.counts[at];
        count.total = count.total.saturating_add(1);
        count.generated = count.generated.saturating_add(u32::from(generated));
    }

    fn remove(&mut self, token: u32, generated: bool) {
        let Ok(at) = self.find(token) else { return };
        let count = &mut self.counts[at];
        count.generated = count.generated.saturating_sub(u32::from(generated));
        count.total = count.total.saturating_sub(1);
        if count.total == 0 {
            self.counts.remove(at);
        }
    }
}

/// Repetition first, as a factor; then frequency and presence, as differences.
pub(super) fn apply(logits: &mut [f32], window: &Window, options: &SamplingOptions) {
    for count in &window.counts {
        let Some(logit) = logits.get_mut(count.token as usize) else { continue };
        let penalty = options.repetition_penalty;
        let repeated = if *logit > 0.0 { *logit / penalty } else { *logit * penalty };
        let presence = if count.generated > 0 { options.presence_penalty } else { 0.0 };
        *logit = repeated - options.frequency_penalty * count.generated as f32 - presence;
    }
}
