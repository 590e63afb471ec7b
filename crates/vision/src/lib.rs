//! Pixels to tensors.
//!
//! A [`Frame`] is a borrowed view of one camera picture in whatever layout the device gives, any [`PixelFormat`] with
//! any strides, with crop, rotation and mirror. A [`Photo`] is a decoded image file that is upright by its EXIF
//! orientation. A [`Preprocessor`] turns either into the tensor that a network takes: it resamples, converts colour,
//! normalises and lays out, row by row, and allocates nothing once warm. A [`FrameBuffer`] is a reusable owned copy of a
//! frame, for when the camera wants its memory back.
//!
//! ```
//! use nearside_vision::{Fit, Frame, ImageSpec, Preprocessor};
//!
//! let nv12 = vec![128; 640 * 480 * 3 / 2];
//! let frame = Frame::nv12(&nv12, 640, 480, None)?;
//! let mut preprocessor = Preprocessor::new(ImageSpec { fit: Fit::Stretch, ..ImageSpec::new(224, 224) })?;
//! let mut tensor = vec![0.0; preprocessor.output_len()];
//! preprocessor.run(&frame, &mut tensor)?;
//! # Ok::<(), nearside_vision::Error>(())
//! ```
//!
//! # What the numbers mean
//!
//! The picture that is normalised has 8 bits a channel, as where networks are trained. From RGB it equals what Pillow or
//! OpenCV make of it, bit for bit; [`Filter`] says which. From YUV it equals: upsample chroma to full resolution (as
//! [`ChromaSiting`] says), convert every pixel to RGB, crop, rotate, mirror, resize, clamp, round. All of these but the
//! last two are linear, so the resampling is done on Y, U and V instead and only the pixels that are kept are converted.

mod colour;
mod emit;
mod error;
mod frame;
mod frame_buffer;
mod geometry;
mod kernels;
mod patches;
mod photo;
mod placement;
mod preprocessor;
mod resample;
mod spec;
mod taps;
mod tensor;
mod worker;

pub use colour::{ChromaSiting, Matrix, Range};
pub use error::{Error, Result};
pub use frame::{BufferLayout, Frame, PixelFormat, Plane};
pub use frame_buffer::FrameBuffer;
pub use geometry::{Rect, Rotation};
pub use kernels::InstructionSet;
pub use patches::{PatchBudget, PatchGrid};
pub use photo::{Photo, PhotoLimits, PhotoOptions};
pub use preprocessor::{Preprocessor, Work};
pub use spec::{Channels, Element, Filter, Fit, ImageSpec, Layout, Quantization};
pub use tensor::TensorMut;

/// The code of the guide is compiled with the documentation's own.
#[cfg(doctest)]
#[doc = include_str!("../../../docs/vision.md")]
mod guide {}
