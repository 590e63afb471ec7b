//! What each instruction of a method calls.

use crate::file::{Instruction, MethodFile};

/// The parts of a method's description that give events their names.
pub(crate) struct Plan {
    pub(super) calls: Vec<Call>,
    pub(super) delegates: Vec<Delegate>,
}

pub(super) enum Call {
    Operator(String),
    /// The delegated part.
    Delegate(usize),
    Control(&'static str),
}

/// A delegated part.
pub(super) struct Delegate {
    pub(super) id: String,
    /// Where in the file its payload begins.
    pub(super) payload_at: u64,
}

impl Plan {
    pub(crate) fn new(file: &MethodFile) -> Self {
        let call = |instruction: &Instruction| match instruction {
            Instruction::Kernel { operator, .. } => Call::Operator(file.operators[*operator].clone()),
            Instruction::Delegate { delegate, .. } => Call::Delegate(*delegate),
            Instruction::Move { .. } => Call::Control("(move)"),
            Instruction::JumpFalse { .. } => Call::Control("(jump)"),
            Instruction::Free { .. } => Call::Control("(free)"),
        };
        let delegate = |delegate: &crate::file::FileDelegate| Delegate {
            id: delegate.id.clone(),
            payload_at: delegate.payload.start,
        };
        Self {
            calls: file.instructions.iter().map(call).collect(),
            delegates: file.delegates.iter().map(delegate).collect(),
        }
    }

    /// Room for a run's events at first; delegates that tell of their own operators need more.
    pub(crate) fn first_guess(&self) -> usize {
        self.calls.len() + self.delegates.len() + 64
    }
}
