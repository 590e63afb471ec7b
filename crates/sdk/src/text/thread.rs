//! Threads for calls that wait for a text model.

use tokio::sync::oneshot;

use crate::{NearsideError, Result};

/// Starts `work` on a thread of its own: it may wait for as long as an answer of another session takes, and the threads
/// of the background pool are few.
pub(super) fn start(work: impl FnOnce() + Send + 'static) -> Result<()> {
    let thread = std::thread::Builder::new().name("nearside-text".into()).spawn(work);
    thread.map(drop).map_err(|error| {
        nearside_pipeline::Error::Thread { name: "nearside-text", source: std::sync::Arc::new(error) }.into()
    })
}

/// Waits for `work`, which has a thread of its own. Dropping the future drops the result, but not the work.
///
/// # Errors
/// What `work` gives, or [`NearsideError::Internal`] if it panics.
pub(super) async fn run<T: Send + 'static>(work: impl FnOnce() -> Result<T> + Send + 'static) -> Result<T> {
    let (sender, done) = oneshot::channel();
    start(move || drop(sender.send(work())))?;
    done.await.unwrap_or_else(|error| Err(NearsideError::internal("a text model's call", error)))
}
