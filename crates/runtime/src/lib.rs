//! ExecuTorch, safely: programs checked before any C++ sees them, methods, tensors, delegates, memory that can be saved,
//! profiles.
//!
//! ```no_run
//! use nearside_runtime::{LoadMode, Program, TensorRef};
//!
//! # fn main() -> nearside_runtime::Result<()> {
//! let program = Program::open("model.pte", LoadMode::Mmap)?;
//! let mut method = program.load_method("forward")?;
//! let pixels = vec![0.0f32; 3 * 224 * 224];
//! let outputs = method.execute(&[TensorRef::new(&pixels, &[1, 3, 224, 224])?])?;
//! let logits: &[f32] = outputs.tensor(0)?.as_slice()?;
//! # Ok(())
//! # }
//! ```

mod bridge;
pub mod delegate;
mod error;
mod external;
pub mod file;
mod group;
mod kernels;
mod load_options;
pub mod memory;
mod metadata;
mod method;
mod operators;
pub mod preflight;
pub mod profile;
mod program;
mod registry;
mod schema;
mod snapshot;
mod tensor;
mod threads;

pub use error::{Code, Error, Result};
pub use group::MethodGroup;
/// For this crate's benchmarks.
#[doc(hidden)]
pub use kernels::linear::measured;
pub use kernels::measured as measured_operators;
pub use load_options::LoadOptions;
pub use metadata::{MethodMeta, TensorMeta, ValueMeta};
pub use method::{Method, Outputs, Value};
pub use program::{LoadMode, Program};
pub use registry::{has_operator, own_operators, registered_delegates, registered_operators};
pub use snapshot::Snapshot;
pub use tensor::{DType, Element, TensorRef, TensorView};
pub use threads::{set_thread_count, thread_count};

/// The code of the guide is compiled with the documentation's own.
#[cfg(doctest)]
#[doc = include_str!("../../../docs/rust.md")]
mod guide {}
