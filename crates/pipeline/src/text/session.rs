//! A session of a text model, from any thread.

use super::TextModel;
use super::generation::{Generation, generation};
use crate::error::{Error, Result, guard};
use nearside_language::{Message, Request, Session};
use std::fmt;
use std::path::Path;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// A session of a [`TextModel`]: what was said so far, and the KV cache that belongs to it. What is asked of it is done in
/// order, between what is asked of the model's other sessions.
pub struct TextSession {
    model: TextModel,
    session: Arc<Mutex<Session>>,
}

impl TextSession {
    pub(super) fn new(model: TextModel, session: Session) -> Self {
        Self { model, session: Arc::new(Mutex::new(session)) }
    }

    /// The model.
    pub fn model(&self) -> &TextModel {
        &self.model
    }

    /// Generates an answer without waiting for it. Dropping what is given cancels.
    ///
    /// # Errors
    /// [`Error::Closed`]. What else is wrong, the generation tells.
    pub fn generate(&self, request: Request) -> Result<Generation> {
        let (handle, teller) = generation();
        let session = Arc::clone(&self.session);
        self.model.submit(move |model| {
            let result = guard("generation", || {
                let mut session = lock(&session);
                let answer = session.generate(model, &request, &teller.cancellation, &mut |event| {
                    teller.tell(event);
                });
                Ok(answer?)
            });
            if let Err(Error::Internal { message, .. }) = &result {
                lock(&session).poison(message);
            }
            teller.end(result);
        })?;
        Ok(handle)
    }

    /// A session that goes on from here by itself.
    ///
    /// # Errors
    /// [`Error::Language`] if the KV cache can't be copied, [`Error::Closed`].
    pub fn fork(&self) -> Result<Self> {
        let session = Arc::clone(&self.session);
        let fork = self.model.call(move |model| Ok(lock(&session).fork(model)?))?;
        Ok(Self::new(self.model.clone(), fork))
    }

    /// Writes it to `path`, KV cache included. The file is complete or, after an error, as it was.
    ///
    /// # Errors
    /// [`Error::Language`] if it can't be written or is poisoned, [`Error::Closed`].
    pub fn save(&self, path: impl AsRef<Path>) -> Result<()> {
        let (session, path) = (Arc::clone(&self.session), path.as_ref().to_owned());
        self.model.call(move |model| Ok(lock(&session).save(model, path)?))
    }

    /// Forgets everything. The way on for a session that an error has poisoned.
    ///
    /// # Errors
    /// [`Error::Language`] if the model can't be loaded again, [`Error::Closed`].
    pub fn reset(&self) -> Result<()> {
        let session = Arc::clone(&self.session);
        self.model.call(move |model| Ok(lock(&session).reset(model)?))
    }

    /// The messages so far, the answers among them, when all that was asked before is done.
    ///
    /// # Errors
    /// [`Error::Closed`].
    pub fn messages(&self) -> Result<Vec<Message>> {
        self.with(|session| session.messages().to_vec())
    }

    /// The tokens so far, when all that was asked before is done.
    ///
    /// # Errors
    /// [`Error::Closed`].
    pub fn tokens(&self) -> Result<Vec<u32>> {
        self.with(Session::tokens)
    }

    /// Why it can't go on, if an error has broken it off: it can be reset then.
    ///
    /// # Errors
    /// [`Error::Closed`].
    pub fn poisoned(&self) -> Result<Option<String>> {
        self.with(|session| session.poisoned().map(str::to_owned))
    }

    fn with<T: Send + 'static>(&self, look: impl FnOnce(&Session) -> T + Send + 'static) -> Result<T> {
        let session = Arc::clone(&self.session);
        self.model.call(move |_| Ok(look(&lock(&session))))
    }
}

impl fmt::Debug for TextSession {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("TextSession").field("model", &self.model).finish()
    }
}

fn lock(session: &Mutex<Session>) -> MutexGuard<'_, Session> {
    session.lock().unwrap_or_else(PoisonError::into_inner)
}
