//! A session of a text model.

use std::sync::{Arc, Mutex, PoisonError, RwLock, Weak};

use nearside_pipeline as pipeline;
use pipeline::language;

use super::generation::Work;
use super::{ChatMessage, GenerateRequest, TextGeneration, thread};
use crate::{Cancellation, NearsideError, Result};

/// A session of a text model: what was said so far. What is asked of it is done in order, between what is asked of the
/// model's other sessions.
#[derive(Debug, uniffi::Object)]
pub struct TextSession {
    /// Emptied by closing.
    inner: RwLock<Option<Arc<pipeline::TextSession>>>,
    system: Option<String>,
    /// Held from a call until it is submitted, so that calls keep their order and what was cancelled before it was
    /// submitted never is.
    order: Arc<Mutex<()>>,
    /// What to stop when it is closed.
    answers: Mutex<Vec<Work>>,
    closed: Arc<Cancellation>,
    siblings: Siblings,
}

/// The open sessions of a model, closed with it.
#[derive(Clone, Debug, Default)]
pub(super) struct Siblings(Arc<Mutex<Vec<Weak<TextSession>>>>);

impl Siblings {
    fn add(&self, session: &Arc<TextSession>) {
        let mut all = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        all.retain(|session| session.strong_count() > 0);
        all.push(Arc::downgrade(session));
    }

    pub(super) fn shut_down(&self) {
        let all = std::mem::take(&mut *self.0.lock().unwrap_or_else(PoisonError::into_inner));
        all.iter().filter_map(Weak::upgrade).for_each(|session| session.shut_down());
    }
}

#[uniffi::export]
impl TextSession {
    /// Starts an answer without waiting for it. What is wrong with the request, the answer tells.
    ///
    /// # Errors
    /// [`NearsideError::Closed`]; [`NearsideError::InvalidInput`] for numbers out of range and damaged JSON.
    pub fn generate(&self, request: GenerateRequest) -> Result<Arc<TextGeneration>> {
        let session = self.inner()?;
        let mut request = request.translated(session.model().defaults())?;
        let (order, system) = (Arc::clone(&self.order), self.system.clone());
        let generation = TextGeneration::start(Arc::clone(&self.closed), move |work| {
            let _turn = order.lock().unwrap_or_else(PoisonError::into_inner);
            if let (Some(system), language::Prompt::Turn(messages)) = (system, &mut request.prompt) {
                // A turn follows the last answer: without one, it is the first.
                if session.messages()?.iter().all(|message| message.role != "assistant") {
                    messages.insert(0, language::Message::system(&system));
                }
            }
            if work.is_cancelled() {
                return Ok(None);
            }
            Ok(Some(session.generate(request)?))
        })?;
        let mut answers = self.answers.lock().unwrap_or_else(PoisonError::into_inner);
        answers.retain(Work::is_wanted);
        answers.push(generation.work().clone());
        drop(answers);
        let closed = self.inner.read().unwrap_or_else(PoisonError::into_inner).is_none();
        if closed {
            generation.cancel();
        }
        Ok(Arc::new(generation))
    }

    /// The messages so far, the answers among them, once all that was asked before is done.
    ///
    /// # Errors
    /// [`NearsideError::Closed`], [`NearsideError::Cancelled`].
    pub async fn messages(&self, cancellation: Option<Arc<Cancellation>>) -> Result<Vec<ChatMessage>> {
        let messages = self.call(cancellation, |session| Ok(session.messages()?)).await?;
        Ok(messages.into_iter().map(Into::into).collect())
    }

    /// Why it can't go on until it is reset, if an error has broken it off.
    ///
    /// # Errors
    /// [`NearsideError::Closed`], [`NearsideError::Cancelled`].
    pub async fn poisoned(&self, cancellation: Option<Arc<Cancellation>>) -> Result<Option<String>> {
        self.call(cancellation, |session| Ok(session.poisoned()?)).await
    }

    /// A session that goes on from here by itself.
    ///
    /// # Errors
    /// [`NearsideError::Closed`], [`NearsideError::Cancelled`], or what the runtime says.
    pub async fn fork(&self, cancellation: Option<Arc<Cancellation>>) -> Result<Arc<Self>> {
        let fork = self.call(cancellation, |session| Ok(session.fork()?)).await?;
        Ok(Self::of(fork, self.system.clone(), &self.siblings))
    }

    /// Writes it to `path`, KV cache included. The file is complete or, after an error, as it was.
    ///
    /// # Errors
    /// [`NearsideError::InvalidInput`] if it can't be written; [`NearsideError::Closed`], [`NearsideError::Cancelled`].
    pub async fn save(&self, path: String, cancellation: Option<Arc<Cancellation>>) -> Result<()> {
        self.call(cancellation, move |session| Ok(session.save(path)?)).await
    }

    /// Forgets everything but the system prompt.
    ///
    /// # Errors
    /// [`NearsideError::Closed`], [`NearsideError::Cancelled`], or what the runtime says.
    pub async fn reset(&self, cancellation: Option<Arc<Cancellation>>) -> Result<()> {
        self.call(cancellation, |session| Ok(session.reset()?)).await
    }

    /// Ends its answers with [`NearsideError::Closed`] and frees what it holds. Closing again changes nothing.
    pub fn shut_down(&self) {
        let session = self.inner.write().unwrap_or_else(PoisonError::into_inner).take();
        self.closed.cancel();
        let answers = std::mem::take(&mut *self.answers.lock().unwrap_or_else(PoisonError::into_inner));
        answers.iter().for_each(Work::cancel);
        // Outside the lock: it may be the last to hold the model, and waits for its thread then.
        drop(session);
    }
}

impl TextSession {
    pub(super) fn of(
        session: pipeline::TextSession,
        system: Option<String>,
        siblings: &Siblings,
    ) -> Arc<Self> {
        let session = Arc::new(Self {
            inner: RwLock::new(Some(Arc::new(session))),
            system,
            order: Arc::default(),
            answers: Mutex::default(),
            closed: Arc::new(Cancellation::new()),
            siblings: siblings.clone(),
        });
        siblings.add(&session);
        session
    }

    /// Waits for `work` on a thread of its own, after what was asked before.
    async fn call<T: Send + 'static>(
        &self,
        cancellation: Option<Arc<Cancellation>>,
        work: impl FnOnce(&pipeline::TextSession) -> Result<T> + Send + 'static,
    ) -> Result<T> {
        let session = self.inner()?;
        let order = Arc::clone(&self.order);
        let done = async {
            tokio::select! {
                biased;
                () = Cancellation::of(Some(&self.closed)) => Err(NearsideError::closed("session")),
                done = thread::run(move || {
                    let _turn = order.lock().unwrap_or_else(PoisonError::into_inner);
                    work(&session)
                }) => done,
            }
        };
        Cancellation::or(cancellation.as_deref(), done).await
    }

    fn inner(&self) -> Result<Arc<pipeline::TextSession>> {
        let inner = self.inner.read().unwrap_or_else(PoisonError::into_inner);
        inner.clone().ok_or_else(|| NearsideError::closed("session"))
    }
}
