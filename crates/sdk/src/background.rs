//! The threads on which blocking work runs, so that no thread of the app's executor ever waits.

use std::sync::LazyLock;
use std::time::Duration;

use tokio::runtime::{Builder, Runtime};

use crate::{NearsideError, Result};

/// Most threads that decode or load at once. They come and go with the work.
const MAX_THREADS: usize = 4;

/// Only its pool of blocking threads is used: nothing is ever spawned on, or driven by, the runtime itself.
static POOL: LazyLock<std::io::Result<Runtime>> = LazyLock::new(|| {
    Builder::new_current_thread()
        .thread_name("nearside-background")
        .max_blocking_threads(MAX_THREADS)
        .thread_keep_alive(Duration::from_secs(5))
        .build()
});

/// Runs `work` on a background thread. Dropping the future keeps work from starting that has not yet; what has started
/// goes on and its result is dropped.
///
/// # Errors
/// What `work` gives, or [`NearsideError::Internal`] if it panics.
pub(crate) async fn run<T: Send + 'static>(work: impl FnOnce() -> Result<T> + Send + 'static) -> Result<T> {
    /// Takes the work out of the queue when the future is dropped.
    struct AbortOnDrop<T>(tokio::task::JoinHandle<T>);
    impl<T> Drop for AbortOnDrop<T> {
        fn drop(&mut self) {
            self.0.abort();
        }
    }

    let pool = POOL.as_ref().map_err(|error| NearsideError::internal("background threads", error))?;
    let mut task = AbortOnDrop(pool.spawn_blocking(work));
    (&mut task.0).await.unwrap_or_else(|error| Err(NearsideError::internal("background work", error)))
}
