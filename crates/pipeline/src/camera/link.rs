//! A bounded link between two stages, in which the latest wins.

use crossbeam_channel::{Receiver, Sender, TrySendError, bounded};

/// A bounded channel whose sender can take back what waits.
#[derive(Debug)]
pub(crate) struct Link<T> {
    sender: Sender<T>,
    receiver: Receiver<T>,
}

impl<T> Link<T> {
    pub(crate) fn new(capacity: usize) -> Self {
        let (sender, receiver) = bounded(capacity);
        Self { sender, receiver }
    }

    pub(crate) fn receiver(&self) -> &Receiver<T> {
        &self.receiver
    }

    /// Puts `item` in, at the cost of the oldest ones if the link is full: those go to `displaced`. Never blocks.
    pub(crate) fn put(&self, item: T, mut displaced: impl FnMut(T)) {
        let mut item = item;
        loop {
            match self.sender.try_send(item) {
                Ok(()) => return,
                // The link holds a receiver itself, so it is never disconnected.
                Err(TrySendError::Full(back) | TrySendError::Disconnected(back)) => item = back,
            }
            if let Ok(oldest) = self.receiver.try_recv() {
                displaced(oldest);
            }
        }
    }
}
