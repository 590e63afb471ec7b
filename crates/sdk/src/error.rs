//! The errors that Kotlin and Swift see: a coarse kind, what happened and what to do.

use std::fmt::Display;

use nearside_pipeline::Error as PipelineError;
use nearside_pipeline::runtime::{Code, Error as RuntimeError};
use nearside_pipeline::vision::Error as VisionError;

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
    /// A delegate that the model needs is not linked, or can't run on this device.
    #[error("{detail}; {hint}")]
    BackendUnavailable {
        /// What is wrong.
        detail: String,
        /// What to do.
        hint: String,
    },
    /// Memory ran out.
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
    /// The text is longer than the model's context. Not used by classifiers.
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
    /// The model or camera was closed.
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
        | PipelineError::NotFinite { .. } => INVALID_MODEL,
        PipelineError::NoRunnableVariant { .. } => BACKEND_UNAVAILABLE,
        PipelineError::NoSuchVariant { .. } | PipelineError::InvalidArgument(_) => INVALID_INPUT,
        PipelineError::Runtime(error) => runtime_kind(error),
        PipelineError::Vision(error) => vision_kind(error),
        PipelineError::Cancelled => CANCELLED,
        PipelineError::Closed(_) => CLOSED,
        PipelineError::Thread { .. } => OUT_OF_MEMORY,
        _ => INTERNAL,
    }
}

fn runtime_kind(error: &RuntimeError) -> Kind {
    match error {
        RuntimeError::Read { .. }
        | RuntimeError::NotAProgram { .. }
        | RuntimeError::Truncated { .. }
        | RuntimeError::NoSuchMethod { .. } => INVALID_MODEL,
        RuntimeError::DelegateMissing { .. } | RuntimeError::DelegateUnavailable { .. } => {
            BACKEND_UNAVAILABLE
        }
        RuntimeError::OutOfMemory { .. } => OUT_OF_MEMORY,
        RuntimeError::ThreadCount { .. }
        | RuntimeError::ThreadsInUse { .. }
        | RuntimeError::UnknownDelegate { .. }
        | RuntimeError::UnknownDelegateOption { .. }
        | RuntimeError::DelegateOptionValue { .. }
        | RuntimeError::DelegateOptionRefused { .. } => INVALID_INPUT,
        RuntimeError::ExecuTorch { code, .. } => match code {
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
            _ => INTERNAL,
        },
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
}
