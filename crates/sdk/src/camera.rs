//! The camera pipeline.

use std::sync::{Arc, PoisonError, RwLock};

use nearside_pipeline as pipeline;
use nearside_pipeline::vision::{PixelFormat, Plane};
use tokio::sync::Notify;

use crate::frame::{frame, plane};
use crate::model::positive_top;
use crate::{
    CameraStats, Cancellation, FrameClassification, FrameMetadata, NearsideError, PackedFormat, PlaneLayout,
    Result, YuvFormat, YuvLayout,
};

/// What happens to frames that come faster than they can be classified.
#[derive(Clone, Copy, Debug, PartialEq, Eq, uniffi::Enum)]
pub enum CameraPolicy {
    /// A newer frame replaces one that waits, and offering never blocks: for live cameras.
    KeepOnlyLatest,
    /// Offering blocks until there is room, and every frame is classified: for recordings.
    BlockProducer,
}

/// How a camera pipeline is opened.
#[derive(Clone, Copy, Debug, uniffi::Record)]
pub struct CameraConfig {
    /// What happens to frames that come too fast.
    pub policy: CameraPolicy,
    /// Labels a frame.
    pub top: i32,
}

/// What became of a frame.
#[derive(Clone, Debug, uniffi::Enum)]
pub enum CameraResult {
    /// It was classified.
    Classified {
        /// Its labels.
        classification: FrameClassification,
    },
    /// It could not be; the stream goes on.
    Failed {
        /// The frame's number: 0 for the first that was offered.
        frame: i64,
        /// The timestamp that it was offered with.
        timestamp_ns: i64,
        /// Why.
        error: NearsideError,
    },
}

/// A camera pipeline over an opened model: frames go in by `offer_…`, results come out by `next`.
#[derive(Debug, uniffi::Object)]
pub struct Camera {
    state: RwLock<State>,
    /// Wakes those who wait for a result.
    ready: Arc<Notify>,
}

#[derive(Debug)]
enum State {
    Open(Arc<pipeline::Camera>),
    /// With what the pipeline said last. The pipeline is gone, and its hold on the model with it.
    Closed(CameraStats),
}

#[uniffi::export]
impl Camera {
    /// Offers a YUV 4:2:0 frame in three planes. They are copied once, before this returns.
    ///
    /// Returns at once under [`CameraPolicy::KeepOnlyLatest`]; blocks while there is no room under
    /// [`CameraPolicy::BlockProducer`]. Gives the frame's number, 0 for the first.
    ///
    /// # Errors
    /// [`NearsideError::InvalidInput`] if the planes do not fit the metadata; [`NearsideError::Closed`].
    pub fn offer_yuv(
        &self,
        metadata: FrameMetadata,
        format: YuvFormat,
        layout: YuvLayout,
        y: &[u8],
        u: &[u8],
        v: &[u8],
    ) -> Result<i64> {
        let planes = [plane("Y", y, layout.y)?, plane("U", u, layout.u)?, plane("V", v, layout.v)?];
        self.offer(&metadata, format.into(), planes)
    }

    /// Offers a frame with one plane; otherwise as [`Camera::offer_yuv`].
    ///
    /// # Errors
    /// As [`Camera::offer_yuv`].
    pub fn offer_packed(
        &self,
        metadata: FrameMetadata,
        format: PackedFormat,
        layout: PlaneLayout,
        bytes: &[u8],
    ) -> Result<i64> {
        let planes = [plane("0", bytes, layout)?, Plane::EMPTY, Plane::EMPTY];
        self.offer(&metadata, format.into(), planes)
    }

    /// Waits for the next result. `None` after the last one, which comes after `finish` or `close`, or if cancelled; no
    /// result is lost by that.
    pub async fn next(&self, cancellation: Option<Arc<Cancellation>>) -> Option<CameraResult> {
        tokio::select! {
            biased;
            next = self.next_ready() => next,
            () = Cancellation::of(cancellation.as_deref()) => None,
        }
    }

    /// What became of the frames so far; after closing, of all.
    #[must_use]
    pub fn stats(&self) -> CameraStats {
        match &*self.read() {
            State::Open(camera) => camera.stats().into(),
            State::Closed(stats) => stats.clone(),
        }
    }

    /// Takes no more frames. Those on their way are finished, and their results can still be taken.
    pub fn finish(&self) {
        if let State::Open(camera) = &*self.read() {
            camera.finish();
        }
    }

    /// Takes no more frames, waits for those on their way, and discards the results that nobody has taken (they count as
    /// replaced). Gives what became of all. Closing again changes nothing.
    pub fn shut_down(&self) -> CameraStats {
        let Some(camera) = self.camera() else { return self.stats() };
        // Not under the lock: it waits for the frames on their way.
        let stats = CameraStats::from(camera.close());
        *self.state.write().unwrap_or_else(PoisonError::into_inner) = State::Closed(stats.clone());
        self.ready.notify_waiters();
        stats
    }
}

impl Camera {
    pub(crate) fn open(model: &pipeline::Model, config: CameraConfig) -> Result<Self> {
        let ready = Arc::new(Notify::new());
        let on_ready = {
            let ready = Arc::clone(&ready);
            Arc::new(move || ready.notify_waiters())
        };
        let config = pipeline::CameraConfig {
            policy: config.policy.into(),
            top: positive_top(config.top)?,
            on_ready: Some(on_ready),
        };
        let camera = Arc::new(pipeline::Camera::open(model, config)?);
        Ok(Self { state: RwLock::new(State::Open(camera)), ready })
    }

    fn offer(&self, metadata: &FrameMetadata, format: PixelFormat, planes: [Plane<'_>; 3]) -> Result<i64> {
        let camera = self.camera().ok_or_else(|| NearsideError::closed("camera"))?;
        let number = camera.offer(&frame(metadata, format, planes)?)?;
        Ok(i64::try_from(number).unwrap_or(i64::MAX))
    }

    async fn next_ready(&self) -> Option<CameraResult> {
        loop {
            // Listening before looking, so that nothing can come in between.
            let ready = self.ready.notified();
            tokio::pin!(ready);
            ready.as_mut().enable();
            {
                // Not held while waiting, so that closing can let go of the pipeline.
                let camera = self.camera()?;
                match camera.try_next() {
                    pipeline::Next::Event(event) => return Some(translate(&camera, event)),
                    pipeline::Next::Ended => return None,
                    pipeline::Next::Pending => {}
                }
            }
            ready.await;
        }
    }

    fn camera(&self) -> Option<Arc<pipeline::Camera>> {
        match &*self.read() {
            State::Open(camera) => Some(Arc::clone(camera)),
            State::Closed(_) => None,
        }
    }

    fn read(&self) -> std::sync::RwLockReadGuard<'_, State> {
        self.state.read().unwrap_or_else(PoisonError::into_inner)
    }
}

fn translate(camera: &pipeline::Camera, event: pipeline::CameraEvent) -> CameraResult {
    match event {
        pipeline::CameraEvent::Classified(classified) => {
            let classification = FrameClassification::from(&classified);
            camera.recycle(classified.labels);
            CameraResult::Classified { classification }
        }
        pipeline::CameraEvent::Failed { frame, timestamp_ns, error } => CameraResult::Failed {
            frame: i64::try_from(frame).unwrap_or(i64::MAX),
            timestamp_ns,
            error: error.into(),
        },
    }
}

impl From<CameraPolicy> for pipeline::Policy {
    fn from(policy: CameraPolicy) -> Self {
        match policy {
            CameraPolicy::KeepOnlyLatest => Self::KeepOnlyLatest,
            CameraPolicy::BlockProducer => Self::BlockProducer,
        }
    }
}
