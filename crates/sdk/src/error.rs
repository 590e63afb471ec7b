//! The errors that Kotlin and Swift see: a coarse kind, what happened and what to do.

use std::fmt::Display;
use std::mem::{Discriminant, discriminant};

use nearside_pipeline::language::Error as LanguageError;
use nearside_pipeline::runtime::{Code, Error as RuntimeError};
use nearside_pipeline::vision::Error as VisionError;
use nearside_pipeline::{Error as PipelineError, Refusal};

/// The crate's result.
pub type Result<T> = std::result::Result<T, NearsideError>;

/// Why a call failed.
///
/// `detail` says what is wrong, with the names and numbers that matter; `hint` says what to do about it. Neither is
/// called `message`, which would clash with `Throwable.message` in Kotlin.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error, uniffi::Error)]
pub enum NearsideError {
    /// The model package is missing, damaged or none.
    #[error("{detail}; {hint}")]
    InvalidModel {
        /// What is wrong.
        detail: String,
        /// What to do.
        hint: String,
    },
    /// The package is sound, but asks for what this build can't do.
    #[error("{detail}; {hint}")]
    Incompatible {
        /// What is wrong.
        detail: String,
        /// What to do.
        hint: String,
    },
    /// A delegate that the model needs is not linked or can't run on this device, or too little of the model runs in
    /// delegates.
    #[error("{detail}; {hint}")]
    BackendUnavailable {
        /// What is wrong.
        detail: String,
        /// What to do.
        hint: String,
    },
    /// Memory ran out, or the model takes more than it may.
    #[error("{detail}; {hint}")]
    OutOfMemory {
        /// What is wrong.
        detail: String,
        /// What to do.
        hint: String,
    },
    /// An argument, a photo or a frame is not usable.
    #[error("{detail}; {hint}")]
    InvalidInput {
        /// What is wrong.
        detail: String,
        /// What to do.
        hint: String,
    },
    /// The text is longer than the model's context. Not used: a full context is an event and a reason of the end.
    #[error("{detail}; {hint}")]
    ContextFull {
        /// What is wrong.
        detail: String,
        /// What to do.
        hint: String,
    },
    /// The work was cancelled before it was done.
    #[error("{detail}; {hint}")]
    Cancelled {
        /// What is wrong.
        detail: String,
        /// What to do.
        hint: String,
    },
    /// The model, session or camera was closed.
    #[error("{detail}; {hint}")]
    Closed {
        /// What is wrong.
        detail: String,
        /// What to do.
        hint: String,
    },
    /// A defect: in Nearside, or in the model's program.
    #[error("{detail}; {hint}")]
    Internal {
        /// What is wrong.
        detail: String,
        /// What to do.
        hint: String,
    },
}

impl NearsideError {
    pub(crate) fn cancelled() -> Self {
        PipelineError::Cancelled.into()
    }

    pub(crate) fn closed(what: &'static str) -> Self {
        PipelineError::Closed(what).into()
    }

    pub(crate) fn internal(place: &'static str, error: impl Display) -> Self {
        PipelineError::Internal { place, message: error.to_string() }.into()
    }
}

/// The kinds as functions of detail and hint.
type Kind = fn(String, String) -> NearsideError;

macro_rules! kinds {
    ($($constant:ident = $variant:ident),* $(,)?) => {
        $(const $constant: Kind = |detail, hint| NearsideError::$variant { detail, hint };)*
    };
}

kinds! {
    INVALID_MODEL = InvalidModel,
    INCOMPATIBLE = Incompatible,
    BACKEND_UNAVAILABLE = BackendUnavailable,
    OUT_OF_MEMORY = OutOfMemory,
    INVALID_INPUT = InvalidInput,
    CANCELLED = Cancelled,
    CLOSED = Closed,
    INTERNAL = Internal,
}

impl From<PipelineError> for NearsideError {
    fn from(error: PipelineError) -> Self {
        kind(&error)(error.to_string(), error.hint().to_owned())
    }
}

impl From<VisionError> for NearsideError {
    fn from(error: VisionError) -> Self {
        PipelineError::from(error).into()
    }
}

fn kind(error: &PipelineError) -> Kind {
    match error {
        PipelineError::Read { .. }
        | PipelineError::NotAPackage { .. }
        | PipelineError::Manifest { .. }
        | PipelineError::FileSize { .. }
        | PipelineError::FileHash { .. }
        | PipelineError::Mismatch { .. }
        | PipelineError::WrongTensor { .. }
        | PipelineError::NotFinite { .. } => INVALID_MODEL,
        PipelineError::NoRunnableVariant { reasons } => kind_of_all(reasons),
        PipelineError::NoSuchVariant { .. }
        | PipelineError::WrongTask { .. }
        | PipelineError::InvalidArgument(_) => INVALID_INPUT,
        PipelineError::Runtime(error) => runtime_kind(error),
        PipelineError::Language(error) => language_kind(error),
        PipelineError::Vision(error) => vision_kind(error),
        PipelineError::Cancelled => CANCELLED,
        PipelineError::Closed(_) => CLOSED,
        PipelineError::Thread { .. } => OUT_OF_MEMORY,
        PipelineError::Internal { .. } => INTERNAL,
        // What is new in the pipeline must be given a kind: a test sees to it.
        _ => INTERNAL,
    }
}

/// The kind that all reasons are of; where they differ, some variant lacked its delegate or was not allowed to go without.
fn kind_of_all(reasons: &[Refusal]) -> Kind {
    let mut kinds = reasons.iter().map(|reason| discriminant(&reason.error.clone().into()));
    let first: Option<Discriminant<NearsideError>> = kinds.next();
    match reasons.first() {
        Some(reason) if kinds.all(|kind| Some(kind) == first) => kind(&reason.error),
        _ => BACKEND_UNAVAILABLE,
    }
}

fn runtime_kind(error: &RuntimeError) -> Kind {
    match error {
        RuntimeError::Read { .. }
        | RuntimeError::NotAProgram { .. }
        | RuntimeError::NotDataFile { .. }
        | RuntimeError::Damaged { .. }
        | RuntimeError::Truncated { .. }
        | RuntimeError::NoSuchMethod { .. }
        | RuntimeError::ExternalDataMissing { .. }
        | RuntimeError::ExternalDataMismatch { .. }
        | RuntimeError::DuplicateData { .. }
        | RuntimeError::NotShared { .. }
        // What broke the run off was the model's program.
        | RuntimeError::Poisoned { .. } => INVALID_MODEL,
        RuntimeError::OperatorsMissing { .. }
        | RuntimeError::DeviceMissing { .. }
        | RuntimeError::DelegateOptionNotTaken { .. } => INCOMPATIBLE,
        RuntimeError::DelegateMissing { .. }
        | RuntimeError::DelegateUnavailable { .. }
        | RuntimeError::CoverageTooLow { .. }
        | RuntimeError::DelegatesNotAllowed { .. } => BACKEND_UNAVAILABLE,
        RuntimeError::OutOfMemory { .. } | RuntimeError::OverBudget { .. } => OUT_OF_MEMORY,
        RuntimeError::ThreadCount { .. }
        | RuntimeError::ThreadsInUse { .. }
        | RuntimeError::UnknownDelegate { .. }
        | RuntimeError::UnknownDelegateOption { .. }
        | RuntimeError::DelegateOptionValue { .. }
        | RuntimeError::DelegateOptionRefused { .. }
        | RuntimeError::Write { .. }
        | RuntimeError::SnapshotMismatch { .. }
        | RuntimeError::SnapshotDamaged { .. } => INVALID_INPUT,
        RuntimeError::ExecuTorch { code, .. } => code_kind(*code),
        // The pipeline gives methods what their metadata asks for.
        RuntimeError::InputCount { .. }
        | RuntimeError::InputType { .. }
        | RuntimeError::InputShape { .. }
        | RuntimeError::TensorLength { .. }
        | RuntimeError::TensorBytes { .. }
        | RuntimeError::NoSuchOutput { .. }
        | RuntimeError::OutputType { .. }
        | RuntimeError::NotProfiling { .. } => INTERNAL,
        // What is new in the runtime must be given a kind: a test sees to it.
        _ => INTERNAL,
    }
}

fn language_kind(error: &LanguageError) -> Kind {
    match error {
        LanguageError::NotADecoder { .. }
        | LanguageError::Tokenizer { .. }
        | LanguageError::Template { .. }
        | LanguageError::InvalidLogits { .. }
        // What broke the session off was the model's program.
        | LanguageError::Poisoned { .. } => INVALID_MODEL,
        LanguageError::OneRow { .. }
        | LanguageError::Draft { .. }
        | LanguageError::NoSuchToken { .. }
        | LanguageError::Tokenize { .. }
        | LanguageError::Options(_)
        | LanguageError::NoTemplate
        | LanguageError::TemplateRefuses { .. }
        | LanguageError::EmptyPrompt
        | LanguageError::SessionDamaged { .. }
        | LanguageError::SessionMismatch { .. }
        | LanguageError::Read { .. }
        | LanguageError::Write { .. }
        | LanguageError::NoTokenAllowed
        | LanguageError::NoRandomness { .. }
        | LanguageError::Grammar { .. } => INVALID_INPUT,
        LanguageError::Runtime(error) => runtime_kind(error),
        // Sessions give the decoder, sampler and constraint what they take.
        LanguageError::Call { .. }
        | LanguageError::LogitsWidth { .. }
        | LanguageError::NotInGrammar { .. } => INTERNAL,
        // What is new must be given a kind: a test sees to it.
        _ => INTERNAL,
    }
}

fn code_kind(code: Code) -> Kind {
    match code {
        Code::MemoryAllocationFailed | Code::OutOfResources | Code::DelegateMemoryAllocationFailed => {
            OUT_OF_MEMORY
        }
        Code::InvalidProgram | Code::InvalidExternalData | Code::AccessFailed | Code::Aborted => {
            INVALID_MODEL
        }
        Code::NotSupported
        | Code::NotImplemented
        | Code::OperatorMissing
        | Code::DelegateInvalidCompatibility => INCOMPATIBLE,
        Code::NotFound => BACKEND_UNAVAILABLE,
        Code::Internal
        | Code::InvalidState
        | Code::EndOfMethod
        | Code::AlreadyLoaded
        | Code::InvalidArgument
        | Code::InvalidType
        | Code::RegistrationExceedingMaxKernels
        | Code::RegistrationAlreadyRegistered
        | Code::DelegateInvalidHandle
        | Code::Unknown(_) => INTERNAL,
        // As above.
        _ => INTERNAL,
    }
}

fn vision_kind(error: &VisionError) -> Kind {
    match error {
        // Comes from the package's manifest.
        VisionError::InvalidSpec { .. } => INVALID_MODEL,
        VisionError::WrongOutputLength { .. } => INTERNAL,
        _ => INVALID_INPUT,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use nearside_pipeline::package::manifest::TaskKind;

    #[test]
    fn detail_and_hint_come_from_the_pipeline() {
        let error = NearsideError::from(PipelineError::NoSuchVariant {
            name: "coreml".into(),
            available: vec!["xnnpack-int8".into()],
        });
        let NearsideError::InvalidInput { detail, hint } = error else { panic!("{error:?}") };
        assert!(detail.contains("coreml") && detail.contains("xnnpack-int8"), "{detail}");
        assert!(hint.contains("variant"), "{hint}");
    }

    #[test]
    fn a_package_of_another_task_is_an_invalid_input_that_names_both() {
        let error = NearsideError::from(PipelineError::WrongTask {
            name: "all-minilm-l6-v2".into(),
            found: TaskKind::Embed,
            wanted: TaskKind::Classify,
        });
        let NearsideError::InvalidInput { detail, hint } = error else { panic!("{error:?}") };
        assert!(detail.contains("`embed`") && detail.contains("`classify`"), "{detail}");
        assert!(!hint.is_empty());
    }

    #[test]
    fn running_out_of_memory_in_the_runtime_is_its_own_kind() {
        for code in [Code::MemoryAllocationFailed, Code::DelegateMemoryAllocationFailed] {
            let error = RuntimeError::ExecuTorch { action: "load".into(), code, detail: String::new() };
            let error = NearsideError::from(PipelineError::from(error));
            assert!(matches!(error, NearsideError::OutOfMemory { .. }), "{error:?}");
        }
    }

    #[test]
    fn what_a_package_says_wrongly_of_its_image_is_an_invalid_model_and_a_bad_frame_an_invalid_input() {
        let spec = VisionError::InvalidSpec { field: "std", value: "0".into(), expected: "not 0" };
        assert!(matches!(NearsideError::from(spec), NearsideError::InvalidModel { .. }));
        let frame = VisionError::EmptyFrame { width: 0, height: 4 };
        assert!(matches!(NearsideError::from(frame), NearsideError::InvalidInput { .. }));
    }

    /// The variants of an enumeration in `source`.
    fn variants<'s>(source: &'s str, name: &str) -> Vec<&'s str> {
        let body =
            source.split_once(&format!("pub enum {name} {{\n")).unwrap().1.split_once("\n}\n").unwrap().0;
        let name = |line: &'s str| {
            let line = line.strip_prefix("    ")?;
            let end = line.find(|c: char| !c.is_ascii_alphanumeric()).unwrap_or(line.len());
            line.starts_with(|c: char| c.is_ascii_uppercase()).then(|| &line[..end])
        };
        body.lines().filter_map(name).collect()
    }

    #[test]
    fn every_error_of_the_layers_below_is_given_a_kind_on_purpose() {
        let here = include_str!("error.rs").split_once("#[cfg(test)]").unwrap().0;
        let runtime = include_str!("../../runtime/src/error.rs");
        let pipeline = include_str!("../../pipeline/src/error.rs");
        let language = include_str!("../../language/src/error.rs");
        for (source, name, alias, at_least) in [
            (runtime, "Error", "RuntimeError", 30),
            (runtime, "Code", "Code", 20),
            (pipeline, "Error", "PipelineError", 14),
            (language, "Error", "LanguageError", 20),
        ] {
            let all = variants(source, name);
            assert!(all.len() >= at_least, "{alias}: only {all:?} was found");
            let is_named = |variant: &&str| {
                let named = format!("{alias}::{variant}");
                here.match_indices(&named)
                    .any(|(at, _)| !here[at + named.len()..].starts_with(|c: char| c.is_ascii_alphanumeric()))
            };
            let forgotten: Vec<_> = all.into_iter().filter(|variant| !is_named(variant)).collect();
            assert!(forgotten.is_empty(), "{alias}: {forgotten:?} would be Internal");
        }
    }

    fn too_low() -> PipelineError {
        PipelineError::from(RuntimeError::CoverageTooLow {
            method: "forward".into(),
            coverage: Some(0.5),
            demanded: 1.0,
            portable: vec![("aten::mean.out".into(), 2)],
        })
    }

    fn over_budget() -> PipelineError {
        PipelineError::from(RuntimeError::OverBudget {
            method: "forward".into(),
            need: Box::default(),
            budget_bytes: 1,
        })
    }

    #[test]
    fn what_is_demanded_in_vain_has_a_kind_of_its_own() {
        let NearsideError::BackendUnavailable { detail, .. } = too_low().into() else { panic!() };
        assert!(detail.contains("aten::mean.out (2)"), "{detail}");
        assert!(matches!(over_budget().into(), NearsideError::OutOfMemory { .. }));
    }

    #[test]
    fn variants_that_were_refused_for_one_kind_of_reason_give_that_kind() {
        let none = |errors: [PipelineError; 2]| {
            let reasons = errors.map(|error| Refusal { variant: "fp32".into(), error }).into();
            NearsideError::from(PipelineError::NoRunnableVariant { reasons })
        };
        assert!(matches!(none([over_budget(), over_budget()]), NearsideError::OutOfMemory { .. }));
        assert!(matches!(none([over_budget(), too_low()]), NearsideError::BackendUnavailable { .. }));
    }
}
