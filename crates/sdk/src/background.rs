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

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::mpsc;
    use tokio::runtime::Builder;

    fn wait<T>(future: impl Future<Output = T>) -> T {
        Builder::new_current_thread().build().unwrap().block_on(future)
    }

    #[test]
    fn work_runs_on_a_thread_of_its_own() {
        let name = wait(run(|| Ok(std::thread::current().name().map(str::to_owned)))).unwrap();
        assert_eq!(name.as_deref(), Some("nearside-background"));
    }

    #[test]
    fn a_panic_is_an_internal_error() {
        let result = wait(run(|| -> Result<()> { panic!("on purpose") }));
        assert!(matches!(result, Err(NearsideError::Internal { .. })), "{result:?}");
    }

    #[test]
    fn work_that_waits_for_a_thread_never_starts_once_it_is_dropped() {
        let (release, released) = mpsc::channel::<()>();
        let released = std::sync::Arc::new(std::sync::Mutex::new(released));
        let (started, starts) = mpsc::channel();
        wait(async {
            let busy = (0..MAX_THREADS).map(|_| {
                let (released, started) = (std::sync::Arc::clone(&released), started.clone());
                run(move || {
                    let _ = started.send("busy");
                    let _ = released.lock().map(|released| released.recv());
                    Ok(())
                })
            });
            let mut busy: Vec<_> = busy.map(Box::pin).collect();
            for work in &mut busy {
                tokio::select! { biased; _ = work => {}, () = std::future::ready(()) => {} }
            }
            for _ in 0..MAX_THREADS {
                assert_eq!(starts.recv(), Ok("busy"));
            }
            let dropped = run(move || {
                let _ = started.send("dropped");
                Ok(())
            });
            tokio::select! { biased; _ = dropped => {}, () = std::future::ready(()) => {} }
            drop(release);
            for work in busy {
                work.await.unwrap();
            }
        });
        assert!(starts.recv().is_err());
    }
}
