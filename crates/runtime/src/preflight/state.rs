//! Values that live on from run to run: a KV cache, a running mean.
//!
//! ExecuTorch 1.5.1 marks them in its files only if they begin with data or if the exporter was asked for their names.
//! The others show by being read before anything wrote them.

use crate::delegate::DelegateGraph;
use crate::file::{FileTensor, Initial, Instruction, MethodFile, Storage};
use crate::operators;
use std::ops::Range;

/// A mutable buffer of a method.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct StateBuffer {
    /// Its name in the exported model, if the file has one.
    pub name: Option<String>,
    /// The planned arena that it is in.
    pub arena: usize,
    /// Where in the arena.
    pub range: Range<u64>,
    /// What it begins with; zeros if not set.
    pub initial: Option<Initial>,
}

/// The mutable buffers of `method`, in order of their place. Where the file leaves it open whether a value is one, it
/// counts: a snapshot then holds more than it needs to, never less.
pub(super) fn buffers(method: &MethodFile, graphs: &[Option<DelegateGraph>]) -> Vec<StateBuffer> {
    let read_first = read_before_written(method, graphs);
    let mut buffers: Vec<StateBuffer> = method
        .values
        .iter()
        .enumerate()
        .filter_map(|(at, value)| {
            let FileTensor { storage, name, bytes, .. } = value.as_tensor()?;
            let Storage::Planned { arena, offset, initial } = storage else { return None };
            let marked = initial.is_some() || name.is_some();
            if *bytes == 0 || !(marked || read_first[at]) || method.inputs.contains(&at) {
                return None;
            }
            let (name, initial) = (name.clone(), initial.clone());
            Some(StateBuffer { name, arena: *arena, range: *offset..offset + bytes, initial })
        })
        .collect();
    buffers.sort_by_key(|buffer| (buffer.arena, buffer.range.start, buffer.range.end));
    buffers
}

/// For each value, whether an instruction may read it before any has surely written it.
fn read_before_written(method: &MethodFile, graphs: &[Option<DelegateGraph>]) -> Vec<bool> {
    let mut written = vec![false; method.values.len()];
    let mut read_first = vec![false; method.values.len()];
    // Until here, an instruction may have been jumped over.
    let mut skippable = 0;
    for (at, step) in method.instructions.iter().enumerate() {
        let mut run = |args: &[usize], writes: &dyn Fn(usize) -> Option<bool>| {
            for (position, &arg) in args.iter().enumerate() {
                let reads = writes(position) != Some(true);
                read_first[arg] |= reads && !written[arg];
            }
            for (position, &arg) in args.iter().enumerate() {
                written[arg] |= at >= skippable && writes(position) != Some(false);
            }
        };
        match step {
            Instruction::Kernel { operator, args } => {
                let known = operators::written(&method.operators[*operator]);
                run(args, &|position| known.as_ref().map(|known| known.contains(&position)));
            }
            Instruction::Delegate { delegate, args } => {
                let graph = graphs[*delegate].as_ref();
                run(args, &|position| graph.and_then(|graph| graph.written.get(position).copied()));
            }
            Instruction::Move { from, to } => run(&[*from, *to], &|position| Some(position == 1)),
            Instruction::JumpFalse { condition, destination } => {
                run(&[*condition], &|_| Some(false));
                skippable = skippable.max(*destination);
            }
            Instruction::Free { .. } => {}
        }
    }
    lists(method, &mut read_first, &written);
    read_first
}

/// A list that is passed to a kernel passes its tensors.
fn lists(method: &MethodFile, read_first: &mut [bool], written: &[bool]) {
    use crate::file::FileValue::{OptionalTensorList, TensorList};
    for value in &method.values {
        let items: Vec<usize> = match value {
            TensorList(items) => items.clone(),
            OptionalTensorList(items) => items.iter().copied().flatten().collect(),
            _ => continue,
        };
        for item in items {
            read_first[item] |= !written[item];
        }
    }
}
