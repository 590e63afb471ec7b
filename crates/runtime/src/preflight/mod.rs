//! Preflight: a method of a file checked against this build, before anything is allocated or any C++ sees the file.

mod coverage;
mod demands;
mod external;
mod named;
mod report;
mod state;

pub use coverage::Coverage;
pub use report::{DelegatedPart, MethodReport};
pub(crate) use report::{constants, distinct};
pub use state::StateBuffer;

use crate::delegate::{self, DelegateGraph, xnnpack};
use crate::error::{Error, Result};
use crate::file::{FileValue, Instruction, MethodFile, ProgramFile};
use crate::load_options::LoadOptions;
use crate::memory::MemoryNeed;
use crate::program::{LoadMode, Program};
use crate::{operators, registry};
use named::Named;
use std::collections::BTreeSet;

/// What the checks of a method found out.
#[derive(Debug)]
pub(crate) struct Checked {
    /// For each delegated part, what its payload says of itself; `None` where only the delegate can read it.
    pub(crate) graphs: Vec<Option<DelegateGraph>>,
    /// Values that live on from run to run.
    pub(crate) state: Vec<StateBuffer>,
    /// Names of data that delegates ask for and that is nowhere.
    pub(crate) missing_data: Vec<String>,
}

impl Checked {
    /// Whether delegates go on reading what they were given.
    pub(crate) fn reads_in_place(&self) -> bool {
        self.graphs.iter().flatten().any(|graph| graph.reads_in_place)
    }
}

/// What a method that may be loaded is known by.
#[derive(Debug)]
pub(crate) struct Cleared {
    pub(crate) state: Vec<StateBuffer>,
    pub(crate) need: MemoryNeed,
    /// Delegates go on reading what they were given.
    pub(crate) reads_in_place: bool,
    /// The process is ready to load its delegates until this is dropped.
    pub(crate) delegates: delegate::Prepared,
}

/// All checks, in the order in which a person wants to hear of them.
pub(crate) fn clear(
    program: &Program,
    file: &ProgramFile,
    method: &MethodFile,
    options: &LoadOptions,
) -> Result<Cleared> {
    let (checked, need) = check(program, file, method, options, None)?;
    // Last: options of the process stay as they are if the method is refused.
    let delegates = delegate::prepare(program, method, &options.delegate_options)?;
    let reads_in_place = checked.reads_in_place();
    Ok(Cleared { state: checked.state, need, reads_in_place, delegates })
}

/// All checks but for the delegates'. The need is that of the files as they were opened, or of files opened in the mode
/// `as_if`.
pub(crate) fn check(
    program: &Program,
    file: &ProgramFile,
    method: &MethodFile,
    options: &LoadOptions,
    as_if: Option<LoadMode>,
) -> Result<(Checked, MemoryNeed)> {
    check_requirements(program, file, method)?;
    let checked = check_soundness(program, file, method)?;
    missing_data(method, &checked)?;
    demands::check_coverage(method, &checked, options)?;
    let need = MemoryNeed::new(program, file, method, &checked, as_if);
    demands::check_budget(method, &need, options)?;
    Ok((checked, need))
}

/// Checks that the file's description of `method` is sound: whatever is wrong with it, loading and running it would
/// otherwise be the first to find.
pub(crate) fn check_soundness(program: &Program, file: &ProgramFile, method: &MethodFile) -> Result<Checked> {
    let damaged = |reason: String| Error::Damaged {
        name: program.name().to_owned(),
        reason: format!("method `{}`: {reason}", method.name),
    };
    let (graphs, missing_data) = delegate_graphs(program, file, method)?;
    let writes =
        graphs.iter().map(|graph| graph.as_ref().map(|graph| graph.written.clone()).unwrap_or_default());
    operators::check_method(method, &writes.collect::<Vec<_>>()).map_err(damaged)?;
    let state = state::buffers(method, &graphs);
    Ok(Checked { graphs, state, missing_data })
}

/// Checks that the data that delegates ask for by name is there.
pub(crate) fn missing_data(method: &MethodFile, checked: &Checked) -> Result<()> {
    if checked.missing_data.is_empty() {
        return Ok(());
    }
    Err(Error::ExternalDataMissing { method: method.name.clone(), keys: checked.missing_data.clone() })
}

/// Checks that this build and device have what `method` needs.
pub(crate) fn check_requirements(program: &Program, file: &ProgramFile, method: &MethodFile) -> Result<()> {
    if let Some(device) = &method.device {
        return Err(Error::DeviceMissing { method: method.name.clone(), device: device.clone() });
    }
    let missing = missing_operators(method);
    if !missing.is_empty() {
        return Err(Error::OperatorsMissing { method: method.name.clone(), operators: missing });
    }
    external::check(program, file, method)
}

/// Operators that are called and have no kernel in this build, sorted.
pub(crate) fn missing_operators(method: &MethodFile) -> Vec<String> {
    let called: BTreeSet<_> = method
        .instructions
        .iter()
        .filter_map(|step| match step {
            Instruction::Kernel { operator, .. } => Some(method.operators[*operator].as_str()),
            _ => None,
        })
        .collect();
    called.into_iter().filter(|name| !registry::has_operator(name)).map(str::to_owned).collect()
}

/// What the delegates' payloads say of themselves, and names of data that they ask for and that is nowhere.
fn delegate_graphs(
    program: &Program,
    file: &ProgramFile,
    method: &MethodFile,
) -> Result<(Vec<Option<DelegateGraph>>, Vec<String>)> {
    let named = Named::new(program, file);
    let mut calls = calls(method);
    check_work(program, file, &calls, method)?;
    let mut graph = |(index, part): (usize, &crate::file::FileDelegate)| -> Result<Option<DelegateGraph>> {
        if part.id != xnnpack::ID {
            return Ok(None);
        }
        let payload = program.read(part.payload.clone())?;
        let calls = xnnpack::Calls { args: std::mem::take(&mut calls[index]) };
        let graph = xnnpack::check(&payload, &calls, &named).map_err(|reason| Error::Damaged {
            name: program.name().to_owned(),
            reason: format!("method `{}`: the XNNPACK part {index}: {reason}", method.name),
        })?;
        Ok(Some(graph))
    };
    let graphs = method.delegates.iter().enumerate().map(&mut graph).collect::<Result<Vec<_>>>()?;
    Ok((graphs, named.into_missing()))
}

/// Checks that describing the delegates' payloads is no more work than their bytes let expect: many parts may have the
/// same payload, and a part may be called often.
fn check_work(
    program: &Program,
    file: &ProgramFile,
    calls: &[Vec<Vec<&FileValue>>],
    method: &MethodFile,
) -> Result<()> {
    const LEAST: u64 = 1 << 24;
    let bytes = method.delegates.iter().zip(calls).map(|(part, calls)| {
        (part.payload.end - part.payload.start).saturating_mul(calls.len().max(1) as u64)
    });
    if bytes.fold(0, u64::saturating_add) <= file.bytes.saturating_mul(16).max(LEAST) {
        return Ok(());
    }
    Err(Error::Damaged {
        name: program.name().to_owned(),
        reason: format!("method `{}`: it calls its delegates too often", method.name),
    })
}

/// The arguments of each call of each delegated part.
fn calls(method: &MethodFile) -> Vec<Vec<Vec<&FileValue>>> {
    let mut calls = vec![Vec::new(); method.delegates.len()];
    for step in &method.instructions {
        if let Instruction::Delegate { delegate, args } = step {
            calls[*delegate].push(args.iter().map(|&at| &method.values[at]).collect());
        }
    }
    calls
}
