//! The UniFFI surface of Nearside: what Kotlin and Swift see, under the library name `nearside`.
//!
//! Only types and translation live here; the work is done in `nearside-pipeline`. The hand-written layers in
//! `bindings/` wrap these objects, so what they hide may look plain: pixels come in through synchronous `&[u8]`
//! arguments, which UniFFI passes without a copy, and asynchronous methods take a [`Cancellation`], because
//! cancelling a Swift task does not reach the Rust future by itself.
//!
//! No panic leaves this crate: UniFFI catches those of a call, the background pool those of its tasks, and the
//! pipeline those of its threads.

mod background;
mod camera;
mod cancellation;
mod classification;
mod error;
mod frame;
mod info;
mod memory;
mod model;
mod photo;
mod stats;
mod text;

pub use camera::{Camera, CameraConfig, CameraPolicy, CameraResult};
pub use cancellation::Cancellation;
pub use classification::{Classification, FrameClassification, FrameTimings, ImageTimings, ScoredLabel};
pub use error::{NearsideError, Result};
pub use frame::{
    ChromaSiting, FrameMetadata, PackedFormat, PlaneLayout, Rect, Rotation, YuvFormat, YuvLayout, YuvMatrix,
    YuvRange,
};
pub use info::ModelInfo;
pub use memory::{MemoryInfo, ResidentMemory, resident_memory};
pub use model::{DelegateOption, Model, OpenOptions, open_model};
pub use photo::{Photo, decode_photo, open_photo};
pub use stats::{CameraStats, Latency, Percentiles};
pub use text::{
    ChatMessage, DroppedText, FinishReason, GenerateRequest, Grammar, Prompt, SamplingOptions, Speculation,
    TextEvent, TextGeneration, TextModel, TextModelInfo, TextSession, TextStatistics, ThermalState,
    TokenBias, TokenIntervals, ToolCall, ToolDefinition, WhenFull, open_text_model,
};

uniffi::setup_scaffolding!("nearside");
