//! Memory: the arenas that a method's plan lays tensors out in, what loading takes, and what the process holds.

mod arena;
mod need;
mod resident;

pub(crate) use arena::Arena;
pub use need::{MemoryNeed, MemoryReport};
pub use resident::{Resident, reset_peak, resident};
