//! How a camera pipeline behaves.

use std::fmt;
use std::sync::Arc;

/// What happens to frames that come faster than they can be classified.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Policy {
    /// A newer frame replaces one that waits, and offering never blocks: for live cameras. The default.
    #[default]
    KeepOnlyLatest,
    /// Offering blocks until there is room, and every frame is classified: for recordings.
    BlockProducer,
}

/// How a camera pipeline is opened.
#[derive(Clone)]
pub struct CameraConfig {
    /// What happens to frames that come too fast.
    pub policy: Policy,
    /// Labels a frame.
    pub top: usize,
    /// Called when an event can be taken or the last one has been, on the inference thread: it should only wake someone.
    pub on_ready: Option<Arc<dyn Fn() + Send + Sync>>,
}

impl Default for CameraConfig {
    fn default() -> Self {
        Self { policy: Policy::default(), top: 5, on_ready: None }
    }
}

impl fmt::Debug for CameraConfig {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("CameraConfig")
            .field("policy", &self.policy)
            .field("top", &self.top)
            .field("on_ready", &self.on_ready.is_some())
            .finish()
    }
}
