//! Model packages, the inference thread and the camera pipeline.
//!
//! ```no_run
//! use nearside_pipeline::{Image, Model, OpenOptions};
//!
//! # fn main() -> nearside_pipeline::Result<()> {
//! let model = Model::open("efficientnet-lite0.nearside", OpenOptions::default())?;
//! let result = model.classify(Image::Path("coffee.jpg".into()), 3)?;
//! for label in &result.labels {
//!     println!("{} {:.2}", label.name, label.score);
//! }
//! # Ok(())
//! # }
//! ```

mod camera;
mod choice;
mod classification;
mod error;
mod images;
mod inference;
mod loaded;
mod model;
pub mod package;
mod text;

pub use camera::{
    Camera, CameraConfig, CameraEvent, CameraStats, FrameClassification, FrameTimings, Latency, Next,
    Percentiles, Policy,
};
pub use classification::Label;
pub use error::{Error, Refusal, Result};
pub use images::{Classification, Image, ImageTimings, Task};
pub use model::{Model, ModelInfo, OpenOptions, use_threads};
pub use nearside_language as language;
pub use nearside_runtime as runtime;
pub use nearside_vision as vision;
pub use package::Package;
pub use text::{Canceller, Generation, TextEvent, TextModel, TextModelInfo, TextSession};
