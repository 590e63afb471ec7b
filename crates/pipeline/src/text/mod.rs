//! Text models: a package, its inference thread, and sessions that take turns on it.

mod event;
mod generation;
mod info;
mod open;
mod session;

pub use event::TextEvent;
pub use generation::{Canceller, Generation};
pub use info::TextModelInfo;
pub use session::TextSession;

use crate::error::{Error, Result};
use crate::inference;
use crate::model::{OpenOptions, use_threads};
use crate::package::Package;
use crossbeam_channel::{Sender, bounded};
use nearside_language::{LanguageModel, Request, SamplingOptions, ThermalState};
use std::fmt;
use std::path::Path;
use std::sync::Arc;
use std::thread::JoinHandle;

/// Calls that may wait for the inference thread; more make the caller wait.
const WAITING_CALLS: usize = 16;

/// What the inference thread is asked to do with the model.
type Work = Box<dyn FnOnce(&mut LanguageModel) + Send>;

/// An opened language model. Cheap to clone, can be shared between threads; the last clone to go ends its thread.
///
/// It has one KV cache. Sessions take turns on it: a session that another one follows is put aside, at the price of a copy.
#[derive(Clone)]
pub struct TextModel {
    shared: Arc<Shared>,
}

struct Shared {
    info: TextModelInfo,
    defaults: SamplingOptions,
    // Dropped before the thread is joined, which ends it.
    work: Option<Sender<Work>>,
    thread: Option<JoinHandle<()>>,
}

impl TextModel {
    /// Opens the package at `path`, of the task `generate`, checks it, loads a variant and runs it once. Blocks for as long as
    /// that takes.
    ///
    /// # Errors
    /// Those of [`Model::open`](crate::Model::open); [`Error::Language`] if tokenizer, chat template or program can't be used
    /// to generate text.
    pub fn open(path: impl AsRef<Path>, options: OpenOptions) -> Result<Self> {
        Self::open_both(Package::open(path)?, None, options)
    }

    /// As [`TextModel::open`], with a smaller model of the same tokenizer that guesses tokens, for
    /// [`Speculation::Draft`](nearside_language::Speculation::Draft). `options` hold for both, but for the variant, which is the
    /// large one's.
    ///
    /// # Errors
    /// Those of [`TextModel::open`]; [`Error::Language`] if the one can't guess for the other.
    pub fn open_with_draft(
        path: impl AsRef<Path>,
        draft: impl AsRef<Path>,
        options: OpenOptions,
    ) -> Result<Self> {
        Self::open_both(Package::open(path)?, Some(Package::open(draft)?), options)
    }

    fn open_both(package: Package, draft: Option<Package>, options: OpenOptions) -> Result<Self> {
        let demands = options.demands()?;
        let defaults = open::defaults(package.generate()?);
        use_threads(options.threads)?;
        let (work, waiting) = bounded::<Work>(WAITING_CALLS);
        let (info, thread) = inference::start_owner(
            move || open::open(&package, draft.as_ref(), &options, &demands),
            |opened: &open::Opened| opened.info.clone(),
            move |opened| {
                let mut model = opened.model;
                waiting.into_iter().for_each(|work| work(&mut model));
            },
        )?;
        let shared = Shared { info, defaults, work: Some(work), thread: Some(thread) };
        Ok(Self { shared: Arc::new(shared) })
    }

    /// What is known of it.
    pub fn info(&self) -> &TextModelInfo {
        &self.shared.info
    }

    /// How it samples unless the app says otherwise: as its manifest says, greedily where that says nothing.
    pub fn defaults(&self) -> &SamplingOptions {
        &self.shared.defaults
    }

    /// A session in which nothing was said yet.
    pub fn session(&self) -> TextSession {
        TextSession::new(self.clone(), nearside_language::Session::new())
    }

    /// Generates an answer in a session of its own.
    ///
    /// # Errors
    /// [`Error::Closed`].
    pub fn generate(&self, request: Request) -> Result<Generation> {
        self.session().generate(request)
    }

    /// Reads a session that [`TextSession::save`] wrote, in this process or another.
    ///
    /// # Errors
    /// [`Error::Language`] if it can't be read, is damaged or of another model.
    pub fn open_session(&self, path: impl AsRef<Path>) -> Result<TextSession> {
        let path = path.as_ref().to_owned();
        let session = self.call(move |model| Ok(nearside_language::Session::open(model, path)?))?;
        Ok(TextSession::new(self.clone(), session))
    }

    /// Tells how hot the device is, for the statistics of answers that begin from now on: who knows it is the app.
    ///
    /// # Errors
    /// [`Error::Closed`].
    pub fn set_thermal_state(&self, state: Option<ThermalState>) -> Result<()> {
        self.submit(move |model| model.set_thermal_state(state))
    }

    fn submit(&self, work: impl FnOnce(&mut LanguageModel) + Send + 'static) -> Result<()> {
        let links = self.shared.work.as_ref().ok_or(Error::Closed("model"))?;
        links.send(Box::new(work)).map_err(|_| inference::ended())
    }

    /// Waits for what `work` gives.
    fn call<T: Send + 'static>(
        &self,
        work: impl FnOnce(&mut LanguageModel) -> Result<T> + Send + 'static,
    ) -> Result<T> {
        let (done, wait) = bounded(1);
        self.submit(move |model| {
            let _ = done.send(crate::error::guard("inference", || work(model)));
        })?;
        wait.recv().unwrap_or_else(|_| Err(inference::ended()))
    }
}

impl fmt::Debug for TextModel {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("TextModel").field("info", &self.shared.info).finish()
    }
}

impl Drop for Shared {
    fn drop(&mut self) {
        self.work = None;
        let Some(thread) = self.thread.take() else { return };
        // The last clone can go on the thread itself, with a session that its work held.
        if thread.thread().id() != std::thread::current().id() {
            let _ = thread.join();
        }
    }
}
