//! What can go wrong, in words that a person can act on.

use crate::memory::MemoryNeed;
use crate::tensor::DType;
use std::fmt;
use std::path::PathBuf;

/// The crate's result.
pub type Result<T> = std::result::Result<T, Error>;

/// Why a program could not be opened, loaded or run.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// The file could not be read.
    #[error("cannot read {path}: {source}")]
    Read {
        /// The file.
        path: PathBuf,
        /// What the system said.
        source: std::io::Error,
    },
    /// The file is not an ExecuTorch program.
    #[error("{name} is not an ExecuTorch program: {reason}")]
    NotAProgram {
        /// The file, or `program` for bytes.
        name: String,
        /// What was found in place of one.
        reason: String,
    },
    /// The file is not an ExecuTorch data file.
    #[error("{name} is not an ExecuTorch data file: {reason}")]
    NotDataFile {
        /// The file, or `data file` for bytes.
        name: String,
        /// What was found in place of one.
        reason: String,
    },
    /// The file contradicts itself, or asks for what this version can't do.
    #[error("{name} can't be used: {reason}")]
    Damaged {
        /// The file, or `program` for bytes.
        name: String,
        /// What is wrong, and where.
        reason: String,
    },
    /// The file is shorter than it says it is.
    #[error("{name} is cut short: its header speaks of {needed} bytes, it has {found}")]
    Truncated {
        /// The file, or `program` for bytes.
        name: String,
        /// Bytes that the header announces.
        needed: u64,
        /// Bytes present.
        found: u64,
    },
    /// The program has no method of this name.
    #[error("the program has no method `{name}`; it has {}", list(.available))]
    NoSuchMethod {
        /// The method asked for.
        name: String,
        /// The methods present.
        available: Vec<String>,
    },
    /// The method calls operators that have no kernel in this build.
    #[error("method `{method}` calls operators that this build has no kernel for: {}", list(.operators))]
    OperatorsMissing {
        /// The method.
        method: String,
        /// The operators.
        operators: Vec<String>,
    },
    /// The method keeps memory on a device that this build can't reach.
    #[error("method `{method}` keeps tensors on the device {device}; this build has only the CPU")]
    DeviceMissing {
        /// The method.
        method: String,
        /// ExecuTorch's name of the device.
        device: String,
    },
    /// Tensors of the method are in data files that were not given.
    #[error("method `{method}` needs data that was not given: {}", list(.keys))]
    ExternalDataMissing {
        /// The method.
        method: String,
        /// The names of the data.
        keys: Vec<String>,
    },
    /// A tensor in a data file is not the one that the method needs.
    #[error("`{key}`, which method `{method}` needs, {reason}")]
    ExternalDataMismatch {
        /// The method.
        method: String,
        /// The data's name.
        key: String,
        /// What differs.
        reason: String,
    },
    /// Less of the method runs in delegates than was demanded.
    #[error("{} of the operator calls of method `{method}` are in delegates, {:.1} % were demanded; portable: {}", percent(.coverage), .demanded * 100.0, calls(.portable))]
    CoverageTooLow {
        /// The method.
        method: String,
        /// The share in delegates, 0 to 1; `None` if a delegate does not tell.
        coverage: Option<f64>,
        /// The share demanded.
        demanded: f64,
        /// The operators that stayed portable, with their calls.
        portable: Vec<(String, usize)>,
    },
    /// The method does not run in the delegates that were demanded.
    #[error("method `{method}` runs in {}, demanded is {}; portable: {}", list(.found), list(.demanded), calls(.portable))]
    DelegatesNotAllowed {
        /// The method.
        method: String,
        /// The delegates that it calls.
        found: Vec<String>,
        /// The delegates demanded.
        demanded: Vec<String>,
        /// The operators that stayed portable, with their calls.
        portable: Vec<(String, usize)>,
    },
    /// Loading the method would take more memory than it may.
    #[error("method `{method}` takes {} bytes, the budget is {budget_bytes}: {} planned, {} for delegates, {} of workspace, {} of constants", .need.total_bytes(), .need.planned_bytes, .need.delegate_bytes, .need.workspace_bytes, .need.constant_bytes)]
    OverBudget {
        /// The method.
        method: String,
        /// What it takes.
        need: Box<MemoryNeed>,
        /// What it may take.
        budget_bytes: u64,
    },
    /// Methods can't be loaded as a group.
    #[error("the methods do not share their state: {reason}")]
    NotShared {
        /// Why not.
        reason: String,
    },
    /// A file could not be written.
    #[error("cannot write {path}: {source}")]
    Write {
        /// The file.
        path: PathBuf,
        /// What the system said.
        source: std::io::Error,
    },
    /// A snapshot was taken from something else.
    #[error("the snapshot can't be restored: {reason}")]
    SnapshotMismatch {
        /// What differs.
        reason: String,
    },
    /// A file is not a snapshot, or only part of one.
    #[error("{path} is not a usable snapshot: {reason}")]
    SnapshotDamaged {
        /// The file.
        path: PathBuf,
        /// What is wrong with it.
        reason: String,
    },
    /// The method needs a delegate that is not linked into this build.
    #[error("method `{method}` needs the delegate {delegate}, which is not part of this build; it has {}", list(.linked))]
    DelegateMissing {
        /// The method.
        method: String,
        /// The delegate's id.
        delegate: String,
        /// The ids of the linked delegates.
        linked: Vec<String>,
    },
    /// The method needs a delegate that is linked, but says that it can't run here.
    #[error("method `{method}` needs the delegate {delegate}, which can't run here: {reason}")]
    DelegateUnavailable {
        /// The method.
        method: String,
        /// The delegate's id.
        delegate: String,
        /// What it lacks.
        reason: String,
    },
    /// There is no delegate of this name.
    #[error("there is no delegate `{delegate}`{}; there are {}", .why.map(|why| format!(": {why}")).unwrap_or_default(), list(.known))]
    UnknownDelegate {
        /// The name asked for.
        delegate: String,
        /// Why not, where that can be said.
        why: Option<&'static str>,
        /// The ids of those that there are.
        known: Vec<String>,
    },
    /// The delegate has no option of this name.
    #[error("{delegate} has no option `{option}`; it has {}", list(.known))]
    UnknownDelegateOption {
        /// The delegate's id.
        delegate: String,
        /// The option asked for.
        option: String,
        /// The options that it has at run time.
        known: Vec<String>,
    },
    /// The value of a delegate's option is of the wrong type or not allowed.
    #[error("the option {option} of {delegate} can't be `{value}`; it takes {allowed}")]
    DelegateOptionValue {
        /// The delegate's id.
        delegate: String,
        /// The option.
        option: String,
        /// The value given.
        value: String,
        /// What is allowed.
        allowed: String,
    },
    /// ExecuTorch has another value than the one given.
    #[error("the option {option} of {delegate} was set to `{value}`, but ExecuTorch has {found}")]
    DelegateOptionNotTaken {
        /// The delegate's id.
        delegate: String,
        /// The option.
        option: String,
        /// The value given.
        value: String,
        /// The value found.
        found: String,
    },
    /// The option can't be put into effect any more, or not here.
    #[error("the option {option} of {delegate} can't be `{value}` now: {reason}")]
    DelegateOptionRefused {
        /// The delegate's id.
        delegate: String,
        /// The option.
        option: String,
        /// The value given.
        value: String,
        /// Why not.
        reason: String,
    },
    /// Two data files have data of the same name.
    #[error("`{key}` is both in {} and in {}", .files[0], .files[1])]
    DuplicateData {
        /// The name.
        key: String,
        /// The two files.
        files: [String; 2],
    },
    /// Memory for the method's arenas, outputs or a snapshot could not be had.
    #[error("cannot allocate {bytes} bytes for method `{method}`")]
    OutOfMemory {
        /// The method.
        method: String,
        /// Bytes asked for.
        bytes: u64,
    },
    /// The number of inputs is wrong.
    #[error("method `{method}` takes {expected} inputs, {found} were given")]
    InputCount {
        /// The method.
        method: String,
        /// Inputs that it takes.
        expected: usize,
        /// Inputs given.
        found: usize,
    },
    /// The element type of an input is wrong.
    #[error("input {index} of method `{method}` takes {expected}, {found} was given")]
    InputType {
        /// The method.
        method: String,
        /// The input.
        index: usize,
        /// The element type that the program wants.
        expected: DType,
        /// The element type given.
        found: DType,
    },
    /// The shape of an input does not fit the program.
    #[error("input {index} of method `{method}` takes a shape of at most {expected:?}, {found:?} was given")]
    InputShape {
        /// The method.
        method: String,
        /// The input.
        index: usize,
        /// The shape in the file: the upper bound where it is dynamic.
        expected: Vec<i32>,
        /// The shape given.
        found: Vec<i32>,
    },
    /// A tensor's data does not have the length that its shape and type ask for.
    #[error("a tensor of shape {sizes:?} and type {dtype} has {needed} bytes, {found} were given")]
    TensorLength {
        /// The shape.
        sizes: Vec<i32>,
        /// The element type.
        dtype: DType,
        /// Bytes that shape and type ask for.
        needed: u64,
        /// Bytes given.
        found: u64,
    },
    /// Bytes can't be elements of the type.
    #[error("the bytes given can't be read as {dtype}: {reason}")]
    TensorBytes {
        /// The element type.
        dtype: DType,
        /// Why not.
        reason: String,
    },
    /// There is no output of this number.
    #[error("output {index} was asked for; method `{method}` has {count}")]
    NoSuchOutput {
        /// The method.
        method: String,
        /// The output asked for.
        index: usize,
        /// Outputs that there are.
        count: usize,
    },
    /// An output was read as what it is not.
    #[error("output {index} is {found}, not {expected}")]
    OutputType {
        /// The output.
        index: usize,
        /// What the caller wanted.
        expected: &'static str,
        /// What it is.
        found: String,
    },
    /// The number of threads is out of range.
    #[error("{threads} threads were asked for; give 1 to {}", crate::threads::MAX_THREADS)]
    ThreadCount {
        /// Threads asked for.
        threads: usize,
    },
    /// An earlier run was broken off in the middle, so that nothing can be said of the method's memory.
    #[error("method `{method}` can't be run again: ExecuTorch broke off an earlier run")]
    Poisoned {
        /// The method.
        method: String,
    },
    /// The method was not loaded for profiling.
    #[error("method `{method}` can't be profiled: it was not loaded for that")]
    NotProfiling {
        /// The method.
        method: String,
    },
    /// The thread pool can't change under loaded methods.
    #[error("cannot go from {current} to {threads} threads while {methods} methods are loaded")]
    ThreadsInUse {
        /// Threads asked for.
        threads: usize,
        /// Threads in use.
        current: usize,
        /// Methods loaded now.
        methods: usize,
    },
    /// ExecuTorch itself failed.
    #[error("ExecuTorch could not {action}: {code}{}", said(.detail))]
    ExecuTorch {
        /// What was being done.
        action: String,
        /// Its error code.
        code: Code,
        /// What it logged on the way, may be empty.
        detail: String,
    },
}

impl Error {
    /// What to do about it.
    pub fn hint(&self) -> &'static str {
        match self {
            Self::Read { .. } => "check that the path exists and may be read",
            Self::NotAProgram { .. } => {
                "give a .pte file made by ExecuTorch's exporter (nearside-export makes one)"
            }
            Self::NotDataFile { .. } => "give a .ptd file made by ExecuTorch's exporter",
            Self::Damaged { .. } => DAMAGED,
            Self::Truncated { .. } => "copy or download the file again: it is incomplete",
            Self::NoSuchMethod { .. } => "use one of the methods listed",
            Self::OperatorsMissing { .. } => {
                "export the model with operators that this build has, or link the kernels that it needs"
            }
            Self::DeviceMissing { .. } => "export the model with its memory on the CPU",
            Self::ExternalDataMissing { .. } => "give the .ptd files that were exported with the program",
            Self::ExternalDataMismatch { .. } => "give the .ptd files of the same export as the program",
            Self::CoverageTooLow { .. } => {
                "export it so that the operators listed are delegated too, or demand less"
            }
            Self::DelegatesNotAllowed { .. } => "choose a variant that was exported for these delegates",
            Self::OverBudget { .. } => "raise the budget, or choose a smaller variant",
            Self::NotShared { .. } => {
                "export the methods together, with share_mutable_buffers, or load them one by one"
            }
            Self::Write { .. } => "check that the folder exists, may be written and has room",
            Self::SnapshotMismatch { .. } => {
                "restore it into the method of the program that it was taken from"
            }
            Self::SnapshotDamaged { .. } => "take the snapshot again",
            Self::DelegateMissing { .. } => {
                "choose a variant for a linked delegate, or link the delegate's library"
            }
            Self::DelegateUnavailable { .. } => "choose a variant for another delegate, such as XNNPACK",
            Self::DuplicateData { .. } => "give only the data files that belong to the program",
            Self::UnknownDelegate { .. }
            | Self::UnknownDelegateOption { .. }
            | Self::DelegateOptionValue { .. } => "use one of those listed",
            Self::DelegateOptionNotTaken { .. } => {
                "leave the option out, or use the ExecuTorch version that this build was made for"
            }
            Self::DelegateOptionRefused { .. } => "do what the message says, or leave the option out",
            Self::OutOfMemory { .. } => "free memory, or choose a smaller variant",
            Self::InputCount { .. }
            | Self::InputType { .. }
            | Self::InputShape { .. }
            | Self::TensorLength { .. } => "match the method's metadata (`nearside inspect` shows it)",
            Self::TensorBytes { .. } => {
                "give bytes that are elements of the type, at an address that is aligned for it"
            }
            Self::NoSuchOutput { .. } | Self::OutputType { .. } => {
                "match the method's metadata (`nearside inspect` shows it)"
            }
            Self::ThreadCount { .. } => "leave it unset for one thread a performance core",
            Self::Poisoned { .. } => "load the method again",
            Self::NotProfiling { .. } => "load it with `LoadOptions { profiling: true, .. }`",
            Self::ThreadsInUse { .. } => {
                "set the number of threads before the first model is opened, or close all models first"
            }
            Self::ExecuTorch { code, .. } => code.hint(),
        }
    }
}

/// ExecuTorch's error codes, by its own names (runtime/core/error.h of 1.5.1).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[allow(missing_docs)]
#[non_exhaustive]
pub enum Code {
    Internal,
    InvalidState,
    EndOfMethod,
    AlreadyLoaded,
    NotSupported,
    NotImplemented,
    InvalidArgument,
    InvalidType,
    OperatorMissing,
    RegistrationExceedingMaxKernels,
    RegistrationAlreadyRegistered,
    NotFound,
    MemoryAllocationFailed,
    AccessFailed,
    InvalidProgram,
    InvalidExternalData,
    OutOfResources,
    DelegateInvalidCompatibility,
    DelegateMemoryAllocationFailed,
    DelegateInvalidHandle,
    /// Not one of its codes: it found a state that it would have ended the process for.
    Aborted,
    /// A code that this version does not name.
    Unknown(u32),
}

impl Code {
    pub(crate) fn from_raw(code: u32) -> Self {
        match code {
            0x01 => Self::Internal,
            0x02 => Self::InvalidState,
            0x03 => Self::EndOfMethod,
            0x04 => Self::AlreadyLoaded,
            0x10 => Self::NotSupported,
            0x11 => Self::NotImplemented,
            0x12 => Self::InvalidArgument,
            0x13 => Self::InvalidType,
            0x14 => Self::OperatorMissing,
            0x15 => Self::RegistrationExceedingMaxKernels,
            0x16 => Self::RegistrationAlreadyRegistered,
            0x20 => Self::NotFound,
            0x21 => Self::MemoryAllocationFailed,
            0x22 => Self::AccessFailed,
            0x23 => Self::InvalidProgram,
            0x24 => Self::InvalidExternalData,
            0x25 => Self::OutOfResources,
            0x30 => Self::DelegateInvalidCompatibility,
            0x31 => Self::DelegateMemoryAllocationFailed,
            0x32 => Self::DelegateInvalidHandle,
            0xffff_ffff => Self::Aborted,
            other => Self::Unknown(other),
        }
    }

    fn hint(self) -> &'static str {
        match self {
            Self::OperatorMissing => {
                "export the model with operators that this build has, or link the kernels that it needs"
            }
            Self::MemoryAllocationFailed | Self::OutOfResources | Self::DelegateMemoryAllocationFailed => {
                "free memory, or choose a smaller variant"
            }
            Self::InvalidProgram | Self::InvalidExternalData | Self::Aborted => DAMAGED,
            Self::AccessFailed => "check that the file may be read and is complete",
            Self::DelegateInvalidCompatibility | Self::DelegateInvalidHandle => {
                "export the model again for the delegate's version on this device"
            }
            Self::NotFound => "check that the delegates and external data that the model needs are present",
            Self::NotSupported | Self::NotImplemented => "export the model without the unsupported feature",
            _ => "run `nearside inspect` on the file and compare with what is passed in",
        }
    }
}

impl fmt::Display for Code {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Unknown(code) => write!(f, "unknown error 0x{code:x}"),
            named => write!(f, "{named:?}"),
        }
    }
}

const DAMAGED: &str = "the file is damaged or of another ExecuTorch version: copy it again or export it with the version of this build";

/// The names, or the first of them where there are many.
fn list(names: &[String]) -> String {
    const SHOWN: usize = 12;
    match names {
        [] => "none".into(),
        names if names.len() > SHOWN => {
            format!("{} and {} more", names[..SHOWN].join(", "), names.len() - SHOWN)
        }
        names => names.join(", "),
    }
}

fn percent(share: &Option<f64>) -> String {
    share.map_or("an unknown part".into(), |share| format!("{:.1} %", share * 100.0))
}

fn calls(portable: &[(String, usize)]) -> String {
    let named: Vec<_> = portable.iter().map(|(name, calls)| format!("{name} ({calls})")).collect();
    list(&named)
}

fn said(detail: &str) -> String {
    if detail.is_empty() { String::new() } else { format!(" ({})", detail.replace('\n', "; ")) }
}
