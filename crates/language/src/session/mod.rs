//! A session: what was said so far, the KV cache that belongs to it, and how an answer follows.

mod answer;
mod clock;
mod file;
mod full;
mod history;
mod prefill;
mod prompt;
mod residency;

pub(crate) use history::common_prefix;

use crate::cancellation::Cancellation;
use crate::decoder::Written;
use crate::error::{Error, Result};
use crate::event::{Event, Finished, Reason};
use crate::model::LanguageModel;
use crate::request::{Conversation, Prompt, Request};
use crate::sampling::{Sampler, SamplingOptions};
use crate::template::Message;
use answer::Answer;
use history::History;
use nearside_runtime::Snapshot;
use serde_json::Value;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// What was said so far, and the KV cache that belongs to it. A session costs memory only while another one has the model:
/// then its cache is put aside.
#[derive(Debug)]
pub struct Session {
    state: Resident,
    conversation: Option<Conversation>,
    /// Messages up to the last answer. Those after it had none: the next turn takes their place.
    answered: usize,
    /// What the last answer was sampled with, for [`Prompt::Continue`].
    sampler: Option<(SamplingOptions, Sampler)>,
    poisoned: Option<String>,
}

/// A session's part that the model knows: it puts it aside when another session comes.
pub(crate) type Resident = Arc<Mutex<State>>;

/// Tokens, and how many of them are in the KV cache.
#[derive(Debug, Default)]
pub(crate) struct State {
    /// The model that the cache belongs to; 0 for none yet.
    model: u64,
    history: History,
    /// Tokens from the first on that are in the KV cache.
    cached: usize,
    written: Written,
    /// The KV cache while the decoder has another one. Forks share it.
    aside: Option<Arc<Snapshot>>,
}

impl Default for Session {
    fn default() -> Self {
        Self::new()
    }
}

impl Session {
    /// One in which nothing was said yet. It belongs to the model that it is first used with.
    pub fn new() -> Self {
        Self { state: Resident::default(), conversation: None, answered: 0, sampler: None, poisoned: None }
    }

    /// The messages so far, the answers among them. Empty for a session of texts.
    pub fn messages(&self) -> &[Message] {
        self.conversation.as_ref().map_or(&[], |conversation| &conversation.messages)
    }

    /// The tokens so far.
    pub fn tokens(&self) -> Vec<u32> {
        lock(&self.state).history.tokens().to_vec()
    }

    /// How many of [`Session::tokens`] the KV cache holds.
    pub fn cached_tokens(&self) -> usize {
        lock(&self.state).cached
    }

    /// Why it can't go on, if an error has broken it off.
    pub fn poisoned(&self) -> Option<&str> {
        self.poisoned.as_deref()
    }

    /// Lets it say from now on that it can't go on, until it is reset. For a defect that ended a generation in the middle.
    pub fn poison(&mut self, reason: &str) {
        self.poisoned = Some(reason.to_owned());
    }

    /// Forgets everything.
    ///
    /// # Errors
    /// The runtime's, if an earlier error has made the decoder unusable and it can't be loaded again.
    pub fn reset(&mut self, model: &mut LanguageModel) -> Result<()> {
        if self.poisoned.is_some() || self.is_resident(model) {
            model.resident = None;
            model.decoder.reset()?;
        }
        *self = Self::new();
        Ok(())
    }

    /// Generates an answer and tells `on_event` of it, on this thread, until [`Event::Finished`], which is also what is given
    /// back. Nothing is allocated for a token once the model is warm, but for what `on_event` and a grammar do.
    ///
    /// A session that was cancelled goes on as if it had not been: what was computed stays.
    ///
    /// # Errors
    /// Options out of range; [`Error::EmptyPrompt`], [`Error::NoTemplate`], those of the tokenizer and the template;
    /// [`Error::OneRow`] and [`Error::Draft`] for speculation that the model can't do; the runtime's. After an error of the
    /// runtime the session is [`Error::Poisoned`] until it is reset.
    pub fn generate(
        &mut self,
        model: &mut LanguageModel,
        request: &Request,
        cancellation: &Cancellation,
        on_event: &mut dyn FnMut(Event<'_>),
    ) -> Result<Finished> {
        if let Some(reason) = &self.poisoned {
            return Err(Error::Poisoned { reason: reason.clone() });
        }
        let state = Arc::clone(&self.state);
        let mut state = lock(&state);
        if state.model != model.id {
            // Another model's cache is none of this one's.
            *state = State { model: model.id, ..State::default() };
        }
        let conversation = self.conversation_of(&request.prompt)?;
        let sampler = match (&request.prompt, &self.sampler) {
            (Prompt::Continue, Some((options, sampler))) if *options == request.sampling => {
                Some(sampler.clone())
            }
            _ => None,
        };
        let own = Arc::clone(&self.state);
        let answer =
            Answer::new(model, &own, &mut state, conversation, sampler, request, cancellation, on_event)?;
        let (finished, sampler, conversation) = answer.run().inspect_err(|error| {
            if let Error::Runtime(error) = error {
                self.poison(&error.to_string());
            }
        })?;
        self.sampler = Some((request.sampling.clone(), sampler));
        self.keep(conversation, &request.prompt, &finished);
        on_event(Event::Finished(&finished));
        Ok(finished)
    }

    /// The conversation that the prompt makes, if it makes one.
    fn conversation_of(&self, prompt: &Prompt) -> Result<Option<Conversation>> {
        match prompt {
            Prompt::Text(_) | Prompt::Tokens(_) => Ok(None),
            Prompt::Conversation(conversation) => Ok(Some(conversation.clone())),
            Prompt::Continue => Ok(self.conversation.clone()),
            Prompt::Turn(messages) => {
                let mut conversation = self.conversation.clone().unwrap_or_default();
                conversation.messages.truncate(self.answered);
                conversation.messages.extend_from_slice(messages);
                Ok(Some(conversation))
            }
        }
    }

    /// Keeps the conversation with its answer.
    fn keep(&mut self, conversation: Option<Conversation>, prompt: &Prompt, finished: &Finished) {
        self.conversation = conversation;
        let Some(conversation) = &mut self.conversation else {
            self.answered = 0;
            return;
        };
        let continued = matches!(prompt, Prompt::Continue) && self.answered == conversation.messages.len();
        let nothing = finished.text.is_empty() && finished.reason == Reason::Cancelled;
        match conversation.messages.last_mut() {
            Some(last) if continued => append(last, &finished.text),
            _ if nothing || finished.statistics.generated_tokens == 0 => return,
            _ => conversation.messages.push(Message::assistant(&finished.text)),
        }
        self.answered = conversation.messages.len();
    }
}

/// Lets an answer go on.
fn append(message: &mut Message, text: &str) {
    let before = message.content.as_ref().and_then(Value::as_str).unwrap_or_default();
    message.content = Some(format!("{before}{text}").into());
}

pub(crate) fn lock(state: &Mutex<State>) -> MutexGuard<'_, State> {
    state.lock().unwrap_or_else(PoisonError::into_inner)
}
