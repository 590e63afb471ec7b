//! Opened text models.

use std::sync::{Arc, PoisonError, RwLock};

use nearside_pipeline as pipeline;
use pipeline::language;

use super::session::Siblings;
use super::{SamplingOptions, TextModelInfo, TextSession, thread};
use crate::{Cancellation, NearsideError, OpenOptions, Result, background};

/// An opened language model with its inference thread. It has one KV cache, on which its sessions take turns.
#[derive(Debug, uniffi::Object)]
pub struct TextModel {
    info: TextModelInfo,
    defaults: SamplingOptions,
    /// Emptied by closing.
    inner: RwLock<Option<pipeline::TextModel>>,
    sessions: Siblings,
}

/// How hot the device is: Apple's four levels, to which Android's seven are mapped.
#[derive(Clone, Copy, Debug, PartialEq, Eq, uniffi::Enum)]
pub enum ThermalState {
    /// Cool.
    Nominal,
    /// Warm; nothing is throttled.
    Fair,
    /// Hot; clocks are lowered.
    Serious,
    /// Too hot; the device may shut down.
    Critical,
}

/// Opens the package at `path`, of the task `generate`, checks it, loads a variant and runs it once, on a background
/// thread. `draft` is the package of a smaller model of the same tokenizer, which guesses tokens.
///
/// # Errors
/// Those of [`open_model`](crate::open_model); [`NearsideError::InvalidInput`] if `draft` can't guess for it.
#[uniffi::export]
pub async fn open_text_model(
    path: String,
    draft: Option<String>,
    options: OpenOptions,
    cancellation: Option<Arc<Cancellation>>,
) -> Result<Arc<TextModel>> {
    let opened = background::run(move || {
        let options = options.try_into()?;
        let model = match draft {
            Some(draft) => pipeline::TextModel::open_with_draft(path, draft, options)?,
            None => pipeline::TextModel::open(path, options)?,
        };
        Ok(Arc::new(TextModel {
            info: model.info().into(),
            defaults: model.defaults().into(),
            inner: RwLock::new(Some(model)),
            sessions: Siblings::default(),
        }))
    });
    Cancellation::or(cancellation.as_deref(), opened).await
}

#[uniffi::export]
impl TextModel {
    /// What is known of it. Works after closing too.
    #[must_use]
    pub fn info(&self) -> TextModelInfo {
        self.info.clone()
    }

    /// How it samples unless a request says otherwise. Works after closing too.
    #[must_use]
    pub fn defaults(&self) -> SamplingOptions {
        self.defaults.clone()
    }

    /// A session in which nothing was said yet. Its conversation begins with the system prompt, if one is given.
    ///
    /// # Errors
    /// [`NearsideError::Closed`].
    pub fn session(&self, system: Option<String>) -> Result<Arc<TextSession>> {
        self.with_session(self.inner()?.session(), system)
    }

    /// Reads a session that [`TextSession::save`] wrote.
    ///
    /// # Errors
    /// [`NearsideError::InvalidInput`] if it can't be read, is damaged or of another model; [`NearsideError::Closed`],
    /// [`NearsideError::Cancelled`].
    pub async fn open_session(
        &self,
        path: String,
        system: Option<String>,
        cancellation: Option<Arc<Cancellation>>,
    ) -> Result<Arc<TextSession>> {
        let model = self.inner()?;
        let opened = thread::run(move || Ok(model.open_session(path)?));
        let session = Cancellation::or(cancellation.as_deref(), opened).await?;
        self.with_session(session, system)
    }

    /// Tells how hot the device is, for the statistics of answers that begin from now on.
    ///
    /// # Errors
    /// [`NearsideError::Closed`], [`NearsideError::Cancelled`].
    pub async fn set_thermal_state(
        &self,
        state: Option<ThermalState>,
        cancellation: Option<Arc<Cancellation>>,
    ) -> Result<()> {
        let model = self.inner()?;
        let told = thread::run(move || Ok(model.set_thermal_state(state.map(Into::into))?));
        Cancellation::or(cancellation.as_deref(), told).await
    }

    /// Closes its sessions, which ends their answers with [`NearsideError::Closed`], and waits for its thread, at most
    /// for the call of the program that is under way. Closing again changes nothing.
    pub fn shut_down(&self) {
        let model = self.inner.write().unwrap_or_else(PoisonError::into_inner).take();
        self.sessions.shut_down();
        // Outside the lock: it waits for the thread.
        drop(model);
    }
}

impl TextModel {
    fn with_session(
        &self,
        session: pipeline::TextSession,
        system: Option<String>,
    ) -> Result<Arc<TextSession>> {
        let session = TextSession::of(session, system, &self.sessions);
        // Closed meanwhile: the session may have come too late to be closed with it.
        if self.inner().is_err() {
            session.shut_down();
        }
        Ok(session)
    }

    fn inner(&self) -> Result<pipeline::TextModel> {
        let inner = self.inner.read().unwrap_or_else(PoisonError::into_inner);
        inner.clone().ok_or_else(|| NearsideError::closed("model"))
    }
}

impl From<ThermalState> for language::ThermalState {
    fn from(state: ThermalState) -> Self {
        match state {
            ThermalState::Nominal => Self::Nominal,
            ThermalState::Fair => Self::Fair,
            ThermalState::Serious => Self::Serious,
            ThermalState::Critical => Self::Critical,
        }
    }
}

impl From<language::ThermalState> for ThermalState {
    fn from(state: language::ThermalState) -> Self {
        match state {
            language::ThermalState::Nominal => Self::Nominal,
            language::ThermalState::Fair => Self::Fair,
            language::ThermalState::Serious => Self::Serious,
            language::ThermalState::Critical => Self::Critical,
        }
    }
}
