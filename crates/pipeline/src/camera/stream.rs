//! What the stages of one camera share: the links between them, the pools and the counts.

use super::config::{CameraConfig, Policy};
use super::event::{CameraEvent, FrameClassification, FrameTimings, Next};
use super::link::Link;
use super::slot::Slot;
use super::stats::{CameraStats, Counts, Latencies};
use crate::classification::Label;
use crate::error::{Error, Result};
use crossbeam_channel::{Receiver, Sender, bounded, select_biased};
use std::convert::Infallible;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

/// Frames on their way at most, if every one is to be classified: one in each stage and one between.
const IN_FLIGHT: usize = 4;

/// One being copied, one waiting for decode, one in it, one waiting for inference, one in it.
const SLOTS: usize = 5;

/// The shared middle of a camera pipeline.
pub(crate) struct Stream {
    config: CameraConfig,
    classes: usize,
    /// Capture to decode.
    captured: Link<Box<Slot>>,
    /// Decode to inference.
    decoded: Link<Box<Slot>>,
    /// Inference to whoever takes the events.
    events: Link<Ready>,
    slots: (Sender<Box<Slot>>, Receiver<Box<Slot>>),
    label_lists: (Sender<Vec<Label>>, Receiver<Vec<Label>>),
    /// `BlockProducer` only: one for each frame that may be on its way.
    tickets: (Sender<()>, Receiver<()>),
    /// Without a core to spare only: held from before a frame is decoded until it has been classified.
    turn: Option<(Sender<()>, Receiver<()>)>,
    /// Disconnected when the last event has been put in.
    end: (Mutex<Option<Sender<Infallible>>>, Receiver<Infallible>),
    counts: Counts,
    latencies: Latencies,
}

/// An event that waits to be taken, with what is needed to finish its timings.
struct Ready {
    event: CameraEvent,
    offered: Instant,
    finished: Instant,
}

impl Stream {
    /// `overlap` is whether a frame may be decoded while another is classified.
    pub(crate) fn new(config: CameraConfig, classes: usize, tensor_len: usize, overlap: bool) -> Arc<Self> {
        let room = match config.policy {
            Policy::KeepOnlyLatest => 1,
            Policy::BlockProducer => IN_FLIGHT,
        };
        let slots = bounded(SLOTS);
        for _ in 0..SLOTS {
            let _ = slots.0.send(Box::new(Slot::new(tensor_len)));
        }
        let tickets = bounded(IN_FLIGHT);
        for _ in 0..IN_FLIGHT {
            let _ = tickets.0.send(());
        }
        // Capacity 1, as waiting on a channel without room allocates.
        let (end, ended) = bounded(1);
        let turn = (!overlap).then(|| {
            let turn = bounded(1);
            let _ = turn.0.send(());
            turn
        });
        Arc::new(Self {
            config,
            classes,
            captured: Link::new(room),
            decoded: Link::new(room),
            events: Link::new(room),
            slots,
            label_lists: bounded(2 * IN_FLIGHT),
            tickets,
            turn,
            end: (Mutex::new(Some(end)), ended),
            counts: Counts::default(),
            latencies: Latencies::new(),
        })
    }

    pub(crate) fn counts(&self) -> &Counts {
        &self.counts
    }

    pub(crate) fn stats(&self) -> CameraStats {
        self.counts.stats(&self.latencies)
    }

    /// Waits until a frame may be offered. `false` if `closing` was disconnected first.
    pub(crate) fn enter(&self, closing: &Receiver<Infallible>) -> bool {
        if self.config.policy == Policy::KeepOnlyLatest {
            return true;
        }
        select_biased! {
            recv(closing) -> _ => false,
            recv(self.tickets.1) -> _ => true,
        }
    }

    /// A frame that `enter` let in is gone.
    pub(crate) fn leave(&self) {
        if self.config.policy == Policy::BlockProducer {
            let _ = self.tickets.0.try_send(());
        }
    }

    /// A slot to copy into. There is always one, as long as one frame is copied at a time.
    pub(crate) fn slot(&self) -> Result<Box<Slot>> {
        self.slots.1.recv().map_err(|_| Error::Closed("camera"))
    }

    pub(crate) fn recycle(&self, slot: Box<Slot>) {
        let _ = self.slots.0.try_send(slot);
    }

    /// Hands a copied frame to the decode thread.
    pub(crate) fn capture(&self, slot: Box<Slot>) {
        self.captured.put(slot, |older| self.replace(older));
    }

    pub(crate) fn captured(&self) -> &Receiver<Box<Slot>> {
        self.captured.receiver()
    }

    /// Waits until a frame may be decoded. The newest one is taken only then.
    pub(crate) fn take_turn(&self) {
        if let Some((_, turn)) = &self.turn {
            let _ = turn.recv();
        }
    }

    /// The frame that took the turn has been classified, or never will be.
    pub(crate) fn pass_turn(&self) {
        if let Some((pass, _)) = &self.turn {
            let _ = pass.try_send(());
        }
    }

    /// Hands a tensor to the inference thread. Gives whether that must be told; if not, it takes this one for the older
    /// one that it was told of.
    pub(crate) fn decode(&self, slot: Box<Slot>) -> bool {
        let mut told = false;
        self.decoded.put(slot, |older| {
            told = true;
            self.replace(older);
        });
        !told
    }

    fn replace(&self, slot: Box<Slot>) {
        self.counts.replaced();
        self.recycle(slot);
        self.leave();
    }

    /// Runs `classify` on the next tensor, on the inference thread, which was told of it.
    pub(crate) fn infer(&self, classify: impl FnOnce(&[f32], usize, &mut Vec<Label>) -> Result<Duration>) {
        // It is there, or is just being replaced by a newer one: this does not wait for a frame.
        let Ok(slot) = self.decoded.receiver().recv() else { return };
        let mut labels = self.label_lists.1.try_recv().unwrap_or_default();
        labels.reserve_exact(self.config.top.min(self.classes));
        let started = Instant::now();
        let classified = classify(&slot.tensor, self.config.top, &mut labels);
        self.pass_turn();
        match classified {
            Ok(inference) => {
                let timings = FrameTimings {
                    capture: slot.copied - slot.offered,
                    decode_wait: slot.decode_started - slot.copied,
                    decode: slot.decoded - slot.decode_started,
                    inference_wait: started - slot.decoded,
                    inference,
                    ..FrameTimings::default()
                };
                let (frame, timestamp_ns, offered) = (slot.frame, slot.timestamp_ns, slot.offered);
                self.recycle(slot);
                let event = FrameClassification { frame, timestamp_ns, labels, timings };
                self.publish(CameraEvent::Classified(event), offered);
            }
            Err(error) => {
                self.recycle_labels(labels);
                self.fail(slot, error);
            }
        }
    }

    /// Counts and reports a frame that can't be classified.
    pub(crate) fn fail(&self, slot: Box<Slot>, error: Error) {
        self.counts.failed();
        let (frame, timestamp_ns, offered) = (slot.frame, slot.timestamp_ns, slot.offered);
        self.recycle(slot);
        self.publish(CameraEvent::Failed { frame, timestamp_ns, error }, offered);
    }

    fn publish(&self, event: CameraEvent, offered: Instant) {
        self.events.put(Ready { event, offered, finished: Instant::now() }, |older| self.discard(older));
        self.notify();
    }

    /// An event that nobody will take.
    fn discard(&self, ready: Ready) {
        self.leave();
        if let CameraEvent::Classified(classification) = ready.event {
            self.counts.replaced();
            self.recycle_labels(classification.labels);
        }
    }

    pub(crate) fn recycle_labels(&self, labels: Vec<Label>) {
        let _ = self.label_lists.0.try_send(labels);
    }

    /// No more events will come.
    pub(crate) fn end(&self) {
        self.end.0.lock().unwrap_or_else(PoisonError::into_inner).take();
        self.notify();
    }

    pub(crate) fn wait_for_end(&self) {
        let _ = self.end.1.recv();
    }

    /// Discards what nobody has taken.
    pub(crate) fn drain(&self) {
        while let Ok(ready) = self.events.receiver().try_recv() {
            self.discard(ready);
        }
    }

    fn notify(&self) {
        if let Some(on_ready) = &self.config.on_ready {
            on_ready();
        }
    }

    /// Takes the next event if there is one.
    pub(crate) fn try_next(&self) -> Next {
        // Asked first: events are put in before the end.
        let ended = self.end.1.try_recv() == Err(crossbeam_channel::TryRecvError::Disconnected);
        match self.events.receiver().try_recv() {
            Ok(ready) => Next::Event(self.deliver(ready)),
            Err(_) if ended => Next::Ended,
            Err(_) => Next::Pending,
        }
    }

    /// Waits for the next event.
    pub(crate) fn next(&self) -> Option<CameraEvent> {
        select_biased! {
            recv(self.events.receiver()) -> ready => ready.ok().map(|ready| self.deliver(ready)),
            recv(self.end.1) -> _ => match self.try_next() {
                Next::Event(event) => Some(event),
                Next::Pending | Next::Ended => None,
            },
        }
    }

    /// Waits for the next event, but not longer than `timeout`.
    pub(crate) fn next_timeout(&self, timeout: Duration) -> Next {
        select_biased! {
            recv(self.events.receiver()) -> ready => match ready {
                Ok(ready) => Next::Event(self.deliver(ready)),
                Err(_) => Next::Ended,
            },
            recv(self.end.1) -> _ => self.try_next(),
            default(timeout) => Next::Pending,
        }
    }

    fn deliver(&self, ready: Ready) -> CameraEvent {
        self.leave();
        let Ready { mut event, offered, finished } = ready;
        if let CameraEvent::Classified(classification) = &mut event {
            let now = Instant::now();
            classification.timings.delivery = now - finished;
            classification.timings.end_to_end = now - offered;
            self.counts.delivered();
            self.latencies.record(&classification.timings);
        }
        event
    }
}
