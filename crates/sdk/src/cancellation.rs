//! Telling waiting work that nobody wants it any more.

use tokio::sync::watch;

use crate::{NearsideError, Result};

/// A switch that ends what waits on it.
///
/// Kotlin drops the Rust future when a coroutine is cancelled and needs none. Swift does not, so its layer passes one to
/// every asynchronous method and flips it in `withTaskCancellationHandler`.
#[derive(Debug, uniffi::Object)]
pub struct Cancellation {
    cancelled: watch::Sender<bool>,
}

#[uniffi::export]
impl Cancellation {
    /// A switch that is off.
    #[uniffi::constructor]
    #[must_use]
    pub fn new() -> Self {
        Self { cancelled: watch::Sender::new(false) }
    }

    /// Ends what waits now or later. Cancelling again changes nothing.
    pub fn cancel(&self) {
        self.cancelled.send_replace(true);
    }
}

impl Cancellation {
    /// Waits until it is cancelled; for ever without one.
    pub(crate) async fn of(cancellation: Option<&Self>) {
        match cancellation {
            // The sender lives in `cancellation`, so the wait can't fail.
            Some(cancellation) => {
                drop(cancellation.cancelled.subscribe().wait_for(|&cancelled| cancelled).await)
            }
            None => std::future::pending().await,
        }
    }

    /// Waits for `work` unless it is cancelled first. Work that is ready wins.
    ///
    /// # Errors
    /// [`NearsideError::Cancelled`], or what `work` gives.
    pub(crate) async fn or<T>(
        cancellation: Option<&Self>,
        work: impl Future<Output = Result<T>>,
    ) -> Result<T> {
        tokio::select! {
            biased;
            done = work => done,
            () = Self::of(cancellation) => Err(NearsideError::cancelled()),
        }
    }
}

impl Default for Cancellation {
    fn default() -> Self {
        Self::new()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::pin::pin;
    use std::task::{Context, Poll, Waker};

    fn poll<T>(future: std::pin::Pin<&mut impl Future<Output = T>>) -> Poll<T> {
        future.poll(&mut Context::from_waker(Waker::noop()))
    }

    #[test]
    fn waiting_work_ends_as_cancelled() {
        let cancellation = Cancellation::new();
        let mut waiting = pin!(Cancellation::or(Some(&cancellation), std::future::pending::<Result<()>>()));
        assert!(poll(waiting.as_mut()).is_pending());
        cancellation.cancel();
        assert!(matches!(poll(waiting), Poll::Ready(Err(NearsideError::Cancelled { .. }))));
    }

    #[test]
    fn work_that_is_done_wins_over_its_cancellation() {
        let cancellation = Cancellation::new();
        cancellation.cancel();
        let done = pin!(Cancellation::or(Some(&cancellation), std::future::ready(Ok(7))));
        assert_eq!(poll(done), Poll::Ready(Ok(7)));
    }

    #[test]
    fn without_a_cancellation_work_just_waits() {
        let waiting = pin!(Cancellation::or(None, std::future::pending::<Result<()>>()));
        assert!(poll(waiting).is_pending());
    }
}
