//! A wish to stop, which any thread may utter.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

/// Tells a generation to stop: it does so before the prefill, between its chunks, and before each token. Clones are the same
/// wish.
#[derive(Debug, Clone, Default)]
pub struct Cancellation(Arc<AtomicBool>);

impl Cancellation {
    /// One that nobody has uttered yet.
    pub fn new() -> Self {
        Self::default()
    }

    /// Utters it. It can't be taken back: a generation that is given it later stops before it begins.
    pub fn cancel(&self) {
        self.0.store(true, Ordering::Release);
    }

    /// Whether it was uttered.
    pub fn is_cancelled(&self) -> bool {
        self.0.load(Ordering::Acquire)
    }
}
