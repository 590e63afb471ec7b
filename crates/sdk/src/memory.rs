//! What a model takes of memory, and what the process holds.

use nearside_pipeline::runtime::memory;

use crate::classification::count;

/// What an opened model takes of memory, computed from its files.
#[derive(Clone, Copy, Debug, PartialEq, Eq, uniffi::Record)]
pub struct MemoryInfo {
    /// All that is taken, in bytes. A memory budget is compared with this.
    pub total_bytes: i64,
    /// Of it the planned arenas: what lies between the operators.
    pub planned_bytes: i64,
    /// Of it what delegates keep of the weights in a form of their own, about.
    pub delegate_bytes: i64,
    /// Of it what delegates need beside that while they run, at most.
    pub workspace_bytes: i64,
    /// Weights that stay in mapped files, in bytes: the system can drop them at any time. Not part of the total.
    pub mapped_bytes: i64,
}

impl From<&memory::MemoryNeed> for MemoryInfo {
    fn from(need: &memory::MemoryNeed) -> Self {
        Self {
            total_bytes: count(need.total_bytes()),
            planned_bytes: count(need.planned_bytes),
            delegate_bytes: count(need.delegate_bytes),
            workspace_bytes: count(need.workspace_bytes),
            mapped_bytes: count(need.mapped_bytes),
        }
    }
}

/// Resident memory of the whole process, in bytes. Mapped files count as far as they were touched.
#[derive(Clone, Copy, Debug, PartialEq, Eq, uniffi::Record)]
pub struct ResidentMemory {
    /// Now.
    pub current_bytes: i64,
    /// The most since the process started.
    pub peak_bytes: i64,
}

/// What the system says of this process. `None` where it does not tell.
#[uniffi::export]
#[must_use]
pub fn resident_memory() -> Option<ResidentMemory> {
    memory::resident().map(Into::into)
}

impl From<memory::Resident> for ResidentMemory {
    fn from(resident: memory::Resident) -> Self {
        Self { current_bytes: count(resident.current_bytes), peak_bytes: count(resident.peak_bytes) }
    }
}
