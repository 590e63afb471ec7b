//! What can go wrong between a package and a result.

use crate::package::manifest::TaskKind;
use std::path::PathBuf;
use std::sync::Arc;

/// The crate's result.
pub type Result<T> = std::result::Result<T, Error>;

/// Why a package could not be opened, or its model not do its work.
#[derive(Debug, Clone, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// A file of a package, or a package, could not be read.
    #[error("cannot read {path}: {source}")]
    Read {
        /// The file.
        path: PathBuf,
        /// What the system said.
        source: Arc<std::io::Error>,
    },
    /// The path is not a model package.
    #[error("{path} is not a model package: {reason}")]
    NotAPackage {
        /// The path given.
        path: PathBuf,
        /// What was found in place of one.
        reason: String,
    },
    /// The manifest is not what the schema asks for.
    #[error("{path}: {reason}")]
    Manifest {
        /// The manifest.
        path: PathBuf,
        /// What is wrong, with line and column where it is not valid JSON.
        reason: String,
    },
    /// A file is not as long as the manifest says.
    #[error("{path} has {found} bytes, the manifest says {expected}")]
    FileSize {
        /// The file.
        path: PathBuf,
        /// Bytes that the manifest gives.
        expected: u64,
        /// Bytes present.
        found: u64,
    },
    /// A file is not the one that the manifest was written for.
    #[error("{path} has sha256 {found}, the manifest says {expected}")]
    FileHash {
        /// The file.
        path: PathBuf,
        /// Hash that the manifest gives, in hex.
        expected: String,
        /// Hash of the file, in hex.
        found: String,
    },
    /// The package has no variant of this name.
    #[error("the package has no variant `{name}`; it has {}", .available.join(", "))]
    NoSuchVariant {
        /// The variant asked for.
        name: String,
        /// The variants present.
        available: Vec<String>,
    },
    /// None of the package's variants can run here as demanded.
    #[error("no variant of the package can run here as demanded: {}", list(.reasons))]
    NoRunnableVariant {
        /// One a variant, in their order.
        reasons: Vec<Refusal>,
    },
    /// Program and manifest do not describe the same model.
    #[error("variant `{variant}` does not fit its manifest: {reason}")]
    Mismatch {
        /// The variant.
        variant: String,
        /// What differs.
        reason: String,
    },
    /// The program takes or gives something else than its task has: pictures and scores as f32, token ids as i64.
    #[error("variant `{variant}` can't be used: its method `{method}` {found}, not one {wanted} tensor")]
    WrongTensor {
        /// The variant.
        variant: String,
        /// The method.
        method: String,
        /// What it does: `takes a tensor of u8`, for one.
        found: String,
        /// The element type that it should take or give.
        wanted: String,
    },
    /// The package is for another task.
    #[error("`{name}` is a package for the task `{found}`, `{wanted}` is needed here")]
    WrongTask {
        /// The model's name.
        name: String,
        /// What it does.
        found: TaskKind,
        /// What it was opened for.
        wanted: TaskKind,
    },
    /// The runtime failed.
    #[error(transparent)]
    Runtime(Arc<nearside_runtime::Error>),
    /// Text could not be generated.
    #[error(transparent)]
    Language(Arc<nearside_language::Error>),
    /// The image could not be read or converted.
    #[error(transparent)]
    Vision(Arc<nearside_vision::Error>),
    /// The model gave numbers that are none.
    #[error("the model gave {value} for class {index}")]
    NotFinite {
        /// The class.
        index: usize,
        /// NaN or an infinity.
        value: f32,
    },
    /// An argument is out of range.
    #[error("{0}")]
    InvalidArgument(String),
    /// The work was cancelled before it was done.
    #[error("the work was cancelled")]
    Cancelled,
    /// The model or camera was closed.
    #[error("the {0} is closed")]
    Closed(&'static str),
    /// A thread could not be started.
    #[error("cannot start the thread {name}: {source}")]
    Thread {
        /// The thread.
        name: &'static str,
        /// What the system said.
        source: Arc<std::io::Error>,
    },
    /// A defect of this library.
    #[error("an internal error in {place}: {message}")]
    Internal {
        /// The stage.
        place: &'static str,
        /// What it said.
        message: String,
    },
}

impl Error {
    /// What to do about it.
    pub fn hint(&self) -> &str {
        match self {
            Self::Read { .. } => "check that the path exists and may be read",
            Self::NotAPackage { .. } => {
                "give the folder that nearside-export made; it ends in .nearside and has a manifest.json"
            }
            Self::Manifest { .. } => "export the package again with the nearside-export of this version",
            Self::FileSize { .. } | Self::FileHash { .. } => {
                "the file was changed or is incomplete: copy or export the package again"
            }
            Self::NoSuchVariant { .. } => "use one of the variants listed, or leave the choice open",
            Self::NoRunnableVariant { .. } => {
                "demand less, or export a variant for a delegate that this build has, such as XNNPACK"
            }
            Self::Mismatch { .. } => "export the package again: its manifest belongs to another program",
            Self::WrongTensor { wanted, .. } if wanted == "f32" => {
                "export it with one input and one output of f32, and quantise and dequantise inside the program"
            }
            Self::WrongTensor { .. } => "export it with token ids of i64 as its only input",
            Self::WrongTask { .. } => {
                "give a package that was exported for that task, or open this one for its own; `nearside inspect` shows it"
            }
            Self::Runtime(error) => error.hint(),
            Self::Language(error) => error.hint(),
            Self::Vision(error) => error.hint(),
            Self::NotFinite { .. } => {
                "check the quality of the export: `nearside-export verify` compares it with fp32"
            }
            Self::InvalidArgument(_) => "correct the argument",
            Self::Cancelled => "start it again if the result is still wanted",
            Self::Closed(_) => "open it again",
            Self::Thread { .. } => "close other models or cameras, the system is out of threads",
            Self::Internal { .. } => "please report it with the input that caused it",
        }
    }
}

impl From<nearside_runtime::Error> for Error {
    fn from(error: nearside_runtime::Error) -> Self {
        Self::Runtime(Arc::new(error))
    }
}

impl From<nearside_language::Error> for Error {
    fn from(error: nearside_language::Error) -> Self {
        match error {
            nearside_language::Error::Runtime(error) => error.into(),
            other => Self::Language(Arc::new(other)),
        }
    }
}

impl From<nearside_vision::Error> for Error {
    fn from(error: nearside_vision::Error) -> Self {
        Self::Vision(Arc::new(error))
    }
}

/// Why a variant was passed over.
#[derive(Debug, Clone)]
pub struct Refusal {
    /// The variant.
    pub variant: String,
    /// The reason.
    pub error: Error,
}

fn list(reasons: &[Refusal]) -> String {
    let reasons: Vec<_> =
        reasons.iter().map(|Refusal { variant, error }| format!("variant `{variant}`: {error}")).collect();
    reasons.join("; ")
}

/// Runs `work`, turning a panic into an error so that it ends neither the thread nor the app.
pub(crate) fn guard<T>(place: &'static str, work: impl FnOnce() -> Result<T>) -> Result<T> {
    std::panic::catch_unwind(std::panic::AssertUnwindSafe(work)).unwrap_or_else(|panic| {
        let message = panic
            .downcast_ref::<&str>()
            .map(|text| (*text).to_owned())
            .or_else(|| panic.downcast_ref::<String>().cloned())
            .unwrap_or_else(|| "panic".into());
        Err(Error::Internal { place, message })
    })
}
