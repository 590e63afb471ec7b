//! The time of an answer, without that in which it waited for whoever takes its events.

use std::time::{Duration, Instant};

/// Monotonic.
#[derive(Debug)]
pub(super) struct Clock {
    started: Instant,
    waited: Duration,
}

impl Clock {
    pub(super) fn start() -> Self {
        Self { started: Instant::now(), waited: Duration::ZERO }
    }

    /// The time since the start, without waiting.
    pub(super) fn now(&self) -> Duration {
        self.started.elapsed().saturating_sub(self.waited)
    }

    /// Does what does not count.
    pub(super) fn waiting(&mut self, work: impl FnOnce()) {
        let since = Instant::now();
        work();
        self.waited += since.elapsed();
    }

    pub(super) fn waited(&self) -> Duration {
        self.waited
    }
}
