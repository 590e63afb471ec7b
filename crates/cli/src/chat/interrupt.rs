//! Ctrl-C while an answer comes.

use crate::error::{Error, Result};
use nearside_pipeline::Canceller;
use std::sync::{Arc, Mutex, PoisonError};

/// What Ctrl-C, or the signal SIGINT, does: it stops the answer that comes, or else ends the program.
pub(super) struct Interrupts(Arc<Mutex<Option<Canceller>>>);

impl Interrupts {
    pub(super) fn listen() -> Result<Self> {
        /// What shells report of a program that SIGINT ended.
        const INTERRUPTED: i32 = 130;
        let answer: Arc<Mutex<Option<Canceller>>> = Arc::default();
        let shared = Arc::clone(&answer);
        ctrlc::set_handler(move || match shared.lock().unwrap_or_else(PoisonError::into_inner).take() {
            Some(answer) => answer.cancel(),
            None => std::process::exit(INTERRUPTED),
        })
        .map_err(|error| Error::Usage(format!("Ctrl-C can't be listened to: {error}")))?;
        Ok(Self(answer))
    }

    /// From now on it stops `answer`, or ends the program.
    pub(super) fn stop(&self, answer: Option<Canceller>) {
        *self.0.lock().unwrap_or_else(PoisonError::into_inner) = answer;
    }
}
