//! What a method holds and needs, for people and tools: `nearside inspect` prints it.

use super::{Checked, Coverage, StateBuffer, coverage, external};
use crate::delegate::DelegateOptions;
use crate::error::{Error, Result};
use crate::file::{FileValue, Instruction, MethodFile, Storage};
use crate::memory::MemoryNeed;
use crate::program::Program;
use std::collections::{BTreeMap, BTreeSet};
use std::ops::Range;

/// A method's operators, delegates, weights and memory, counted from the file.
#[derive(Debug)]
pub struct MethodReport {
    /// The parts that delegates run, in the file's order.
    pub delegated: Vec<DelegatedPart>,
    /// The operators that stayed on portable kernels, with their calls.
    pub portable: BTreeMap<String, usize>,
    /// How much runs in delegates.
    pub coverage: Coverage,
    /// Bytes of constant tensors of the method in the program's file. Tensors that share data count once.
    pub constant_bytes: u64,
    /// Names of tensors in other files, and of delegates' data that is nowhere.
    pub external: Vec<String>,
    /// Values that live on from run to run.
    pub state: Vec<StateBuffer>,
    /// The memory that loading it takes.
    pub memory: MemoryNeed,
    /// Why it can't be loaded here; empty if it can.
    pub problems: Vec<Error>,
}

/// A part of the graph that a delegate runs.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DelegatedPart {
    /// The delegate's id.
    pub delegate: String,
    /// How often a run calls it.
    pub calls: usize,
    /// The operators inside, with their calls. `None` if the payload does not tell.
    pub operators: Option<BTreeMap<String, usize>>,
    /// Bytes of its payload.
    pub payload_bytes: u64,
    /// Bytes of weights, in the payload or by name. `None` if the payload does not tell.
    pub constant_bytes: Option<u64>,
}

impl MethodReport {
    /// Describes the method called `name`, whether it can run here or not.
    ///
    /// # Errors
    /// [`Error::NoSuchMethod`], [`Error::Read`], or [`Error::Damaged`] if the file contradicts itself.
    pub(crate) fn new(program: &Program, name: &str) -> Result<Self> {
        program.method_meta(name)?;
        let file = program.file()?;
        let method = file.method(name).ok_or_else(|| program.changed())?;
        let checked = super::check_soundness(program, &file, method)?;
        let mut problems = Vec::new();
        problems.extend(super::check_requirements(program, &file, method).err());
        problems.extend(super::missing_data(method, &checked).err());
        problems.extend(crate::delegate::require(method, &DelegateOptions::new()).err());
        let memory = MemoryNeed::new(program, &file, method, &checked, None);
        Ok(Self {
            delegated: parts(method, &checked),
            portable: coverage::portable(method),
            coverage: coverage::count(method, &checked.graphs),
            constant_bytes: distinct(constants(method)),
            external: external(method, &checked),
            state: checked.state,
            memory,
            problems,
        })
    }
}

/// Names of what is in other files, or should be.
fn external(method: &MethodFile, checked: &Checked) -> Vec<String> {
    let tensors = external::wanted(method).map(|(_, key)| key.to_owned());
    let all: BTreeSet<_> = tensors.chain(checked.missing_data.iter().cloned()).collect();
    all.into_iter().collect()
}

fn parts(method: &MethodFile, checked: &Checked) -> Vec<DelegatedPart> {
    let mut calls = vec![0; method.delegates.len()];
    for step in &method.instructions {
        if let Instruction::Delegate { delegate, .. } = step {
            calls[*delegate] += 1;
        }
    }
    let part = |(index, part): (usize, &crate::file::FileDelegate)| {
        let graph = checked.graphs[index].as_ref();
        let known = graph.filter(|_| checked.missing_data.is_empty());
        DelegatedPart {
            delegate: part.id.clone(),
            calls: calls[index],
            operators: graph.map(|graph| graph.operators.clone()),
            payload_bytes: part.payload.end - part.payload.start,
            constant_bytes: known.map(|graph| graph.constant_bytes),
        }
    };
    method.delegates.iter().enumerate().map(part).collect()
}

/// Where the constants of `method` are in the file.
pub(crate) fn constants(method: &MethodFile) -> Vec<Range<u64>> {
    let range = |value: &FileValue| match &value.as_tensor()?.storage {
        Storage::Constant(range) => Some(range.clone()),
        _ => None,
    };
    method.values.iter().filter_map(range).collect()
}

/// Bytes covered by `ranges`, which may overlap.
pub(crate) fn distinct(mut ranges: Vec<Range<u64>>) -> u64 {
    ranges.sort_by_key(|range| range.start);
    let mut end = 0;
    let mut bytes = 0;
    for range in ranges {
        bytes += range.end.saturating_sub(range.start.max(end));
        end = end.max(range.end);
    }
    bytes
}
