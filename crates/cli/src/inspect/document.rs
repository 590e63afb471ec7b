//! What `inspect` found, as its JSON has it.

use crate::error::Result;
use nearside_pipeline::package::manifest::Manifest;
use nearside_pipeline::runtime::delegate::{Availability, availability};
use nearside_pipeline::runtime::memory::MemoryNeed;
use nearside_pipeline::runtime::preflight::{Coverage, DelegatedPart, MethodReport, StateBuffer};
use nearside_pipeline::runtime::{self, Program, ValueMeta, has_operator, own_operators};
use serde::Serialize;
use std::collections::BTreeMap;

#[derive(Serialize)]
pub(super) struct PackageDocument<'a> {
    pub(super) manifest: &'a Manifest,
    pub(super) programs: Vec<ProgramDocument>,
}

#[derive(Serialize)]
pub(super) struct ProgramDocument {
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) variant: Option<String>,
    pub(super) file: String,
    pub(super) bytes: u64,
    /// Bytes of the data that delegates ask for by name, such as weights that several methods share.
    pub(super) named_data_bytes: u64,
    pub(super) methods: Vec<MethodDocument>,
}

#[derive(Serialize)]
pub(super) struct MethodDocument {
    pub(super) name: String,
    pub(super) inputs: Vec<ValueDocument>,
    pub(super) outputs: Vec<ValueDocument>,
    pub(super) instructions: usize,
    pub(super) coverage: CoverageDocument,
    pub(super) delegates: Vec<DelegateDocument>,
    pub(super) portable: Vec<OperatorDocument>,
    pub(super) planned_bytes: Vec<u64>,
    pub(super) memory: MemoryDocument,
    /// Bytes of constant tensors in the file, outside of delegates.
    pub(super) constant_bytes: u64,
    /// Names of tensors in other files, and of delegates' data that is nowhere.
    pub(super) external: Vec<String>,
    /// Values that live on from run to run.
    pub(super) state: Vec<StateDocument>,
    /// Why it can't be loaded here; empty if it can.
    pub(super) problems: Vec<ProblemDocument>,
}

#[derive(Serialize)]
pub(super) struct CoverageDocument {
    /// Operator calls inside delegates; null if a delegate does not tell.
    pub(super) delegated: Option<usize>,
    /// Operator calls left on portable kernels.
    pub(super) portable: usize,
    /// `delegated` / all; null if it is not known.
    pub(super) share: Option<f64>,
}

#[derive(Serialize)]
pub(super) struct DelegateDocument {
    pub(super) name: String,
    /// Linked into this build and able to run here.
    pub(super) available: bool,
    /// Parts of the graph that it has.
    pub(super) parts: usize,
    /// How often a run calls it.
    pub(super) calls: usize,
    /// Operator calls inside it, by operator; null if its payload does not tell.
    pub(super) operators: Option<BTreeMap<String, usize>>,
    pub(super) payload_bytes: u64,
    /// Bytes of weights; null if its payload does not tell.
    pub(super) constant_bytes: Option<u64>,
}

#[derive(Serialize)]
pub(super) struct OperatorDocument {
    pub(super) name: String,
    pub(super) calls: usize,
    /// Has a kernel in this build.
    pub(super) available: bool,
    /// The kernel is ours: no other runtime has it.
    pub(super) own: bool,
}

/// What loading takes, bytes.
#[derive(Serialize)]
pub(super) struct MemoryDocument {
    pub(super) total: u64,
    pub(super) planned: u64,
    pub(super) state: u64,
    pub(super) outputs: u64,
    pub(super) constants: u64,
    pub(super) delegates: u64,
    pub(super) workspace: u64,
    pub(super) temporary: u64,
    pub(super) tables: u64,
    /// In mapped files; not part of the total.
    pub(super) mapped: u64,
    /// Delegates of which nothing but the payload's length is known.
    pub(super) unknown_delegates: Vec<String>,
}

#[derive(Serialize)]
pub(super) struct StateDocument {
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) name: Option<String>,
    pub(super) arena: usize,
    pub(super) offset: u64,
    pub(super) bytes: u64,
    /// Begins with data of the file, not with zeros.
    pub(super) initialised: bool,
}

#[derive(Serialize)]
pub(super) struct ProblemDocument {
    pub(super) message: String,
    pub(super) hint: String,
}

#[derive(Serialize)]
pub(super) struct ValueDocument {
    pub(super) kind: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) name: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) dtype: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) shape: Option<Vec<i32>>,
    /// The shape is an upper bound.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) dynamic: Option<bool>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) memory_planned: Option<bool>,
}

impl ProgramDocument {
    pub(super) fn new(program: &Program, variant: Option<String>) -> Result<Self> {
        let file = program.file()?;
        let methods = program.method_names().iter().map(|name| MethodDocument::new(program, name));
        Ok(Self {
            variant,
            file: program.name().to_owned(),
            bytes: file.bytes,
            named_data_bytes: file.named_data.iter().map(|data| data.range.end - data.range.start).sum(),
            methods: methods.collect::<Result<_>>()?,
        })
    }
}

impl MethodDocument {
    fn new(program: &Program, name: &str) -> Result<Self> {
        let meta = program.method_meta(name)?;
        let report = program.report(name)?;
        Ok(Self {
            name: meta.name.clone(),
            inputs: meta.inputs.iter().map(value).collect(),
            outputs: meta.outputs.iter().map(value).collect(),
            instructions: meta.instructions,
            coverage: coverage(&report.coverage),
            delegates: delegates(&report.delegated),
            portable: report.portable.iter().map(operator).collect(),
            planned_bytes: meta.planned_bytes.clone(),
            memory: memory(&report.memory),
            constant_bytes: report.constant_bytes,
            state: report.state.iter().map(state).collect(),
            problems: problems(&report),
            external: report.external,
        })
    }
}

fn coverage(coverage: &Coverage) -> CoverageDocument {
    CoverageDocument { delegated: coverage.delegated, portable: coverage.portable, share: coverage.share() }
}

/// One entry a delegate, whatever the number of parts it has.
fn delegates(parts: &[DelegatedPart]) -> Vec<DelegateDocument> {
    let mut documents: Vec<DelegateDocument> = Vec::new();
    for part in parts {
        if let Some(known) = documents.iter_mut().find(|known| known.name == part.delegate) {
            known.parts += 1;
            known.calls += part.calls;
            known.payload_bytes += part.payload_bytes;
            known.constant_bytes = known.constant_bytes.zip(part.constant_bytes).map(|(a, b)| a + b);
            known.operators = known.operators.take().zip(called(part)).map(|(sum, more)| added(sum, more));
            continue;
        }
        documents.push(DelegateDocument {
            name: part.delegate.clone(),
            available: availability(&part.delegate) == Availability::Available,
            parts: 1,
            calls: part.calls,
            operators: called(part),
            payload_bytes: part.payload_bytes,
            constant_bytes: part.constant_bytes,
        });
    }
    documents
}

/// The operator calls of a run in `part`, which may be called more than once.
fn called(part: &DelegatedPart) -> Option<BTreeMap<String, usize>> {
    let operators = part.operators.as_ref()?;
    Some(operators.iter().map(|(name, calls)| (name.clone(), calls * part.calls)).collect())
}

fn added(mut sum: BTreeMap<String, usize>, more: BTreeMap<String, usize>) -> BTreeMap<String, usize> {
    for (name, calls) in more {
        *sum.entry(name).or_default() += calls;
    }
    sum
}

fn operator((name, calls): (&String, &usize)) -> OperatorDocument {
    let own = own_operators().contains(name);
    OperatorDocument { name: name.clone(), calls: *calls, available: has_operator(name), own }
}

fn memory(need: &MemoryNeed) -> MemoryDocument {
    MemoryDocument {
        total: need.total_bytes(),
        planned: need.planned_bytes,
        state: need.state_bytes,
        outputs: need.output_bytes,
        constants: need.constant_bytes,
        delegates: need.delegate_bytes,
        workspace: need.workspace_bytes,
        temporary: need.temporary_bytes,
        tables: need.table_bytes,
        mapped: need.mapped_bytes,
        unknown_delegates: need.unknown_delegates.clone(),
    }
}

fn state(buffer: &StateBuffer) -> StateDocument {
    StateDocument {
        name: buffer.name.clone(),
        arena: buffer.arena,
        offset: buffer.range.start,
        bytes: buffer.range.end - buffer.range.start,
        initialised: buffer.initial.is_some(),
    }
}

fn problems(report: &MethodReport) -> Vec<ProblemDocument> {
    let problem = |error: &runtime::Error| ProblemDocument {
        message: error.to_string(),
        hint: error.hint().to_owned(),
    };
    report.problems.iter().map(problem).collect()
}

fn value(value: &ValueMeta) -> ValueDocument {
    match value {
        ValueMeta::Tensor(tensor) => ValueDocument {
            kind: "Tensor".into(),
            name: (!tensor.name.is_empty()).then(|| tensor.name.clone()),
            dtype: Some(tensor.dtype.to_string()),
            shape: Some(tensor.sizes.clone()),
            dynamic: Some(tensor.dynamic),
            memory_planned: Some(tensor.memory_planned),
        },
        ValueMeta::Other(kind) => ValueDocument {
            kind: (*kind).into(),
            name: None,
            dtype: None,
            shape: None,
            dynamic: None,
            memory_planned: None,
        },
    }
}
