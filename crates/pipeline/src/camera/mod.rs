//! The camera pipeline: frames go in at one end, labels come out at the other, and nothing is lost silently.
//!
//! ```text
//! offer() --copy--> [slot] --> nearside-decode --> [tensor] --> nearside-infer --> [event] --> next()
//! ```
//!
//! Each bracket is a bounded link. Under [`Policy::KeepOnlyLatest`] it holds one item and a newer one replaces it; under
//! [`Policy::BlockProducer`] offering waits, so that nothing is replaced.

mod config;
mod decode;
mod event;
mod link;
mod slot;
mod stats;
mod stream;

pub use config::{CameraConfig, Policy};
pub use event::{CameraEvent, FrameClassification, FrameTimings, Next};
pub use stats::{CameraStats, Latency, Percentiles};
pub(crate) use stream::Stream;

use crate::classification::Label;
use crate::error::{Error, Result, guard};
use crate::model::{Model, check_top};
use crossbeam_channel::{Receiver, Sender, bounded};
use nearside_vision::Frame;
use std::convert::Infallible;
use std::fmt;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

/// A camera pipeline over an opened model. Dropping it closes it.
pub struct Camera {
    stream: Arc<Stream>,
    /// Held while a frame is copied, one at a time; emptied by closing, which ends the decode thread.
    capture: Mutex<Option<Sender<Infallible>>>,
    /// Disconnected by closing, for those who wait to offer.
    closing: (Mutex<Option<Sender<Infallible>>>, Receiver<Infallible>),
    decode: Mutex<Option<JoinHandle<()>>>,
    /// Keeps the inference thread.
    _model: Model,
}

impl Camera {
    /// Opens a pipeline and starts its decode thread.
    ///
    /// # Errors
    /// [`Error::InvalidArgument`] if `config.top` is 0, [`Error::Thread`].
    pub fn open(model: &Model, config: CameraConfig) -> Result<Self> {
        check_top(config.top)?;
        let preprocessor = nearside_vision::Preprocessor::new(*model.image_spec())?;
        let overlap = has_core_to_spare(model.info().threads);
        let stream = Stream::new(config, model.info().classes, preprocessor.output_len(), overlap);
        let (capture, captures_end) = bounded(1);
        let decode = decode::start(
            Arc::clone(&stream),
            captures_end,
            preprocessor,
            model.inference()?.streams.clone(),
        )?;
        let (closing, closed) = bounded(1);
        Ok(Self {
            stream,
            capture: Mutex::new(Some(capture)),
            closing: (Mutex::new(Some(closing)), closed),
            decode: Mutex::new(Some(decode)),
            _model: model.clone(),
        })
    }

    /// Copies a frame's planes, once, and hands it to the decode thread. Gives the frame's number, 0 for the first.
    ///
    /// Returns as soon as the copy is made, but waits for room first under [`Policy::BlockProducer`].
    ///
    /// # Errors
    /// [`Error::Vision`] if the frame's planes do not fit its format; it counts as failed. [`Error::Closed`]; it is not
    /// counted.
    pub fn offer(&self, frame: &Frame<'_>) -> Result<u64> {
        let offered = Instant::now();
        if !self.stream.enter(&self.closing.1) {
            return Err(Error::Closed("camera"));
        }
        let capture = lock(&self.capture);
        let result = if capture.is_some() { self.copy(frame, offered) } else { Err(Error::Closed("camera")) };
        if result.is_err() {
            self.stream.leave();
        }
        result
    }

    fn copy(&self, frame: &Frame<'_>, offered: Instant) -> Result<u64> {
        let mut slot = self.stream.slot()?;
        let number = self.stream.counts().offered();
        let copied = guard("capture", || Ok(slot.buffer.copy_from(frame)?));
        if let Err(error) = copied {
            self.stream.counts().failed();
            self.stream.recycle(slot);
            return Err(error);
        }
        slot.frame = number;
        slot.timestamp_ns = frame.timestamp_ns;
        slot.offered = offered;
        slot.copied = Instant::now();
        self.stream.capture(slot);
        Ok(number)
    }

    /// Waits for the next event. `None` after the last one.
    pub fn next(&self) -> Option<CameraEvent> {
        self.stream.next()
    }

    /// Waits for the next event, but not longer than `timeout`.
    pub fn next_timeout(&self, timeout: Duration) -> Next {
        self.stream.next_timeout(timeout)
    }

    /// The next event if there is one.
    pub fn try_next(&self) -> Next {
        self.stream.try_next()
    }

    /// Gives a list of labels back, so that later frames need not allocate one.
    pub fn recycle(&self, labels: Vec<Label>) {
        self.stream.recycle_labels(labels);
    }

    /// What became of the frames so far.
    pub fn stats(&self) -> CameraStats {
        self.stream.stats()
    }

    /// Takes no more frames. Those on their way are finished, and their events can still be taken; then [`Camera::next`]
    /// gives `None`.
    pub fn finish(&self) {
        lock(&self.closing.0).take();
        lock(&self.capture).take();
    }

    /// Takes no more frames, waits for those on their way, discards the events that nobody has taken (they count as
    /// replaced), and says what became of all. Closing again changes nothing.
    pub fn close(&self) -> CameraStats {
        self.finish();
        if let Some(decode) = lock(&self.decode).take() {
            let _ = decode.join();
        }
        self.stream.wait_for_end();
        self.stream.drain();
        self.stats()
    }
}

impl Drop for Camera {
    fn drop(&mut self) {
        self.close();
    }
}

impl fmt::Debug for Camera {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Camera").field("stats", &self.stats()).finish()
    }
}

/// Whether a frame can be decoded beside the kernels' threads. If not, the two would slow each other down: kernels wait
/// for their slowest thread, so that a run may take twice as long.
fn has_core_to_spare(threads: usize) -> bool {
    std::thread::available_parallelism().is_ok_and(|cores| cores.get() > threads)
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
