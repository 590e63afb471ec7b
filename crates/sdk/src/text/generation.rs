//! An answer under way.

use std::sync::{Arc, Mutex, PoisonError};

use nearside_pipeline as pipeline;
use tokio::sync::mpsc::{Receiver, Sender, channel};

use super::{TextEvent, thread};
use crate::{Cancellation, NearsideError, Result};

/// Events that wait here, besides those in the pipeline's own queue; with more, the model waits. Also the most of a batch.
const WAITING_EVENTS: usize = 16;

/// What an answer has told and nobody has taken.
#[derive(Debug)]
struct Events {
    receiver: Receiver<Result<TextEvent>>,
    /// What it failed with, until the events before that were taken.
    failed: Option<NearsideError>,
}

/// An answer under way: what it tells comes in batches, by `next`. Nothing is lost or out of order; who takes no events
/// makes the model wait. Freeing it cancels.
#[derive(Debug, uniffi::Object)]
pub struct TextGeneration {
    events: tokio::sync::Mutex<Events>,
    work: Work,
    closed: Arc<Cancellation>,
}

/// The work behind an answer, as far as it can be stopped.
#[derive(Clone, Debug)]
pub(super) struct Work(Arc<Mutex<Stage>>);

#[derive(Debug)]
enum Stage {
    NotBegun,
    Begun(pipeline::Canceller),
    Cancelled,
}

impl Work {
    /// Once this returns, the model does not begin it, or stops before its next token.
    pub(super) fn cancel(&self) {
        let stage =
            std::mem::replace(&mut *self.0.lock().unwrap_or_else(PoisonError::into_inner), Stage::Cancelled);
        if let Stage::Begun(canceller) = stage {
            canceller.cancel();
        }
    }

    /// Whether anything still holds it but the session.
    pub(super) fn is_wanted(&self) -> bool {
        Arc::strong_count(&self.0) > 1
    }

    pub(super) fn is_cancelled(&self) -> bool {
        matches!(*self.0.lock().unwrap_or_else(PoisonError::into_inner), Stage::Cancelled)
    }

    /// Whether it still wants to begin.
    fn begin(&self, canceller: pipeline::Canceller) -> bool {
        let mut stage = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        match &*stage {
            Stage::Cancelled => false,
            _ => {
                *stage = Stage::Begun(canceller);
                true
            }
        }
    }
}

#[uniffi::export]
impl TextGeneration {
    /// Waits for what is told next and gives all that is ready. Nothing after the end.
    ///
    /// # Errors
    /// What the answer failed with, after all events before that; [`NearsideError::Closed`] if the session or model is
    /// closed meanwhile; [`NearsideError::Cancelled`] with `cancellation`, by which no event is lost.
    pub async fn next(&self, cancellation: Option<Arc<Cancellation>>) -> Result<Vec<TextEvent>> {
        let next = async {
            tokio::select! {
                biased;
                () = Cancellation::of(Some(&self.closed)) => Err(NearsideError::closed("session")),
                events = self.ready() => events,
            }
        };
        Cancellation::or(cancellation.as_deref(), next).await
    }

    /// Stops the work. It ends before its next token, even if nobody takes its events; what was told before can still be
    /// taken.
    pub fn cancel(&self) {
        self.work.cancel();
    }
}

impl TextGeneration {
    /// Starts what `submit` gives once it is its turn. `submit` is called on a thread that may wait.
    pub(super) fn start(
        closed: Arc<Cancellation>,
        submit: impl FnOnce(&Work) -> Result<Option<pipeline::Generation>> + Send + 'static,
    ) -> Result<Self> {
        let (sender, receiver) = channel(WAITING_EVENTS);
        let work = Work(Arc::new(Mutex::new(Stage::NotBegun)));
        let theirs = work.clone();
        thread::start(move || {
            match submit(&theirs) {
                Ok(Some(generation)) if theirs.begin(generation.canceller()) => forward(generation, &sender),
                // Dropping the generation cancels it.
                Ok(_) => {}
                Err(error) => drop(sender.blocking_send(Err(error))),
            }
        })?;
        let events = tokio::sync::Mutex::new(Events { receiver, failed: None });
        Ok(Self { events, work, closed })
    }

    /// What stops it from elsewhere.
    pub(super) fn work(&self) -> &Work {
        &self.work
    }

    async fn ready(&self) -> Result<Vec<TextEvent>> {
        let mut events = self.events.lock().await;
        if let Some(error) = events.failed.take() {
            return Err(error);
        }
        let mut batch = Vec::new();
        // Gives nothing, or all of the batch, when it is cancelled.
        events.receiver.recv_many(&mut batch, WAITING_EVENTS).await;
        let mut told = Vec::with_capacity(batch.len());
        for event in batch {
            match event {
                Ok(event) => told.push(event),
                Err(error) if told.is_empty() => return Err(error),
                Err(error) => events.failed = Some(error),
            }
        }
        Ok(told)
    }
}

impl Drop for TextGeneration {
    fn drop(&mut self) {
        self.work.cancel();
    }
}

/// Hands events over until the end, or until nobody wants them.
fn forward(generation: pipeline::Generation, sender: &Sender<Result<TextEvent>>) {
    for event in generation {
        let event = event.map_err(NearsideError::from).and_then(TextEvent::try_from);
        if sender.blocking_send(event).is_err() {
            return;
        }
    }
}
