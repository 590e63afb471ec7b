//! Nearside's preprocessing and its Rust and C peers behind one C ABI, so that a Python script can run them and
//! OpenCV in turn, in one process, on the same frames.
//!
//! A [`Task`] is made from JSON that names the contender, the frame and what is to come out; [`ffi`] is all that
//! Python sees.

mod copy;
pub mod ffi;
mod libyuv;
mod nearside;
mod rust_chain;
mod task;

pub use task::{Contender, Error, FrameJson, Result, SpecJson, Task};
