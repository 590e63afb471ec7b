//! An answer under way: its events as they come, and the way to stop it.

use super::event::TextEvent;
use crate::error::{Error, Result};
use crate::inference;
use crossbeam_channel::{Receiver, RecvTimeoutError, Sender, bounded, select_biased};
use nearside_language::{Cancellation, Event, Finished};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

/// Events that may wait to be taken; with more, the model waits.
const WAITING_EVENTS: usize = 64;

/// An answer under way: an iterator of its events, which ends with [`TextEvent::Finished`] or an error. Dropping it cancels.
///
/// An app that takes no events makes the model wait, but can always cancel. Once it has, what does not fit in the queue is left
/// out; [`Finished::text`] has all of the text.
#[derive(Debug)]
pub struct Generation {
    events: Receiver<TextEvent>,
    end: Receiver<Result<Finished>>,
    canceller: Canceller,
    ended: bool,
}

/// Stops a [`Generation`] from any thread.
#[derive(Debug, Clone)]
pub struct Canceller {
    cancellation: Cancellation,
    /// Dropped to wake the inference thread, should it wait for room in the queue.
    wake: Arc<Mutex<Option<Sender<()>>>>,
}

impl Canceller {
    /// The answer ends before its next token, with [`Reason::Cancelled`](nearside_language::Reason::Cancelled).
    pub fn cancel(&self) {
        self.cancellation.cancel();
        *self.wake.lock().unwrap_or_else(PoisonError::into_inner) = None;
    }
}

/// The inference thread's end of it.
pub(super) struct Teller {
    events: Sender<TextEvent>,
    end: Sender<Result<Finished>>,
    woken: Receiver<()>,
    pub(super) cancellation: Cancellation,
}

pub(super) fn generation() -> (Generation, Teller) {
    let (events, taken) = bounded(WAITING_EVENTS);
    let (end, ended) = bounded(1);
    let (wake, woken) = bounded(0);
    let cancellation = Cancellation::new();
    let canceller = Canceller { cancellation: cancellation.clone(), wake: Arc::new(Mutex::new(Some(wake))) };
    let generation = Generation { events: taken, end: ended, canceller, ended: false };
    (generation, Teller { events, end, woken, cancellation })
}

impl Teller {
    /// Waits for room, but not once it is cancelled.
    pub(super) fn tell(&self, event: Event<'_>) {
        let Some(event) = TextEvent::of(event) else { return };
        if self.cancellation.is_cancelled() {
            let _ = self.events.try_send(event);
            return;
        }
        select_biased! {
            send(self.events, event) -> _ => {}
            recv(self.woken) -> _ => {}
        }
    }

    pub(super) fn end(self, result: Result<Finished>) {
        let _ = self.end.send(result);
    }
}

impl Generation {
    /// The next event, after waiting at most so long for it: `Ok(None)` if none came. After the end, [`Error::Closed`].
    ///
    /// # Errors
    /// What the generation failed with; nothing follows it.
    pub fn next_within(&mut self, timeout: Duration) -> Result<Option<TextEvent>> {
        if self.ended {
            return Err(Error::Closed("generation"));
        }
        match self.events.recv_timeout(timeout) {
            Ok(event) => Ok(Some(event)),
            Err(RecvTimeoutError::Timeout) => Ok(None),
            Err(RecvTimeoutError::Disconnected) => self.last().map(Some),
        }
    }

    /// Takes all events and gives the end.
    ///
    /// # Errors
    /// What the generation failed with.
    pub fn wait(mut self) -> Result<Finished> {
        while self.events.recv().is_ok() {}
        self.ended = true;
        self.end.recv().unwrap_or_else(|_| Err(inference::ended()))
    }

    /// Cancels it, as [`Canceller::cancel`] does.
    pub fn cancel(&self) {
        self.canceller.cancel();
    }

    /// What cancels it from another thread.
    pub fn canceller(&self) -> Canceller {
        self.canceller.clone()
    }

    fn last(&mut self) -> Result<TextEvent> {
        self.ended = true;
        let end = self.end.recv().unwrap_or_else(|_| Err(inference::ended()));
        end.map(|finished| TextEvent::Finished(Box::new(finished)))
    }
}

impl Iterator for Generation {
    type Item = Result<TextEvent>;

    fn next(&mut self) -> Option<Self::Item> {
        if self.ended {
            return None;
        }
        Some(self.events.recv().map_or_else(|_| self.last(), Ok))
    }
}

impl Drop for Generation {
    fn drop(&mut self) {
        self.canceller.cancel();
    }
}
