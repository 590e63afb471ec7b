//! Whose KV cache the decoder has. Sessions take turns: one is put aside when another comes.

use super::history::common_prefix;
use super::{Resident, Session, State, lock};
use crate::decoder::Written;
use crate::error::Result;
use crate::model::LanguageModel;
use std::sync::Arc;

impl Session {
    pub(super) fn is_resident(&self, model: &LanguageModel) -> bool {
        model.resident.as_ref().is_some_and(|resident| Arc::ptr_eq(resident, &self.state))
    }

    /// A session that goes on from here by itself. The KV cache is copied at most once for any number of forks.
    ///
    /// # Errors
    /// The runtime's.
    pub fn fork(&self, model: &LanguageModel) -> Result<Self> {
        let resident = self.is_resident(model);
        let state = lock(&self.state);
        let aside = match &state.aside {
            None if resident && state.cached > 0 => Some(Arc::new(model.decoder.snapshot()?)),
            kept => kept.clone(),
        };
        let state = State {
            model: state.model,
            history: state.history.clone(),
            cached: if aside.is_some() { state.cached } else { 0 },
            written: state.written,
            aside,
        };
        Ok(Self {
            state: Resident::new(state.into()),
            conversation: self.conversation.clone(),
            answered: self.answered,
            sampler: self.sampler.clone(),
            poisoned: self.poisoned.clone(),
        })
    }
}

/// Gives the decoder to the session `own`, whose `state` is, with as many of the tokens that it wants as any cache at hand
/// begins with: its own, or that of the session before it. Says how many.
pub(super) fn take_over(
    model: &mut LanguageModel,
    own: &Resident,
    state: &mut State,
    wanted: &[u32],
) -> Result<usize> {
    let sliding = model.facts().sliding;
    // At least the last token is computed: its logits are needed.
    let most = wanted.len().saturating_sub(1);
    let shared = |state: &State| {
        let cached = &state.history.tokens()[..state.cached.min(state.history.tokens().len())];
        state.written.usable(common_prefix(cached, wanted).min(most), sliding)
    };
    let before = model.resident.take_if(|resident| !Arc::ptr_eq(resident, own));
    let Some(before) = before else {
        let usable =
            if model.resident.is_some() { shared(state) } else { restore(model, state, shared(state))? };
        model.resident = Some(Arc::clone(own));
        return Ok(usable);
    };
    let mut other = lock(&before);
    let (mine, theirs) = (if state.aside.is_some() { shared(state) } else { 0 }, shared(&other));
    // Nobody else holds it: the session was dropped.
    if Arc::strong_count(&before) > 1 && other.cached > 0 {
        other.aside = Some(Arc::new(model.decoder.snapshot()?));
    }
    let usable = if theirs > mine {
        state.written = other.written;
        state.aside = None;
        theirs
    } else {
        restore(model, state, mine)?
    };
    drop(other);
    model.resident = Some(Arc::clone(own));
    Ok(usable)
}

/// Puts the session's cache back, if anything of it is usable.
fn restore(model: &mut LanguageModel, state: &mut State, usable: usize) -> Result<usize> {
    match state.aside.take() {
        Some(aside) if usable > 0 => {
            model.decoder.restore(&aside)?;
            Ok(usable)
        }
        _ => {
            state.written = Written::default();
            Ok(0)
        }
    }
}
