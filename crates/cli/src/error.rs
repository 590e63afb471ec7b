//! What a command failed with, and how that is shown.

use std::io::Write;
use std::path::PathBuf;
use std::process::ExitCode;

/// A command's result.
pub(crate) type Result<T> = std::result::Result<T, Error>;

/// Why a command failed.
#[derive(Debug, thiserror::Error)]
pub(crate) enum Error {
    /// The command line is wrong in a way that its parser can't see.
    #[error("{0}")]
    Usage(String),
    /// A file could not be read.
    #[error("cannot read {path}: {source}")]
    Read { path: PathBuf, source: std::io::Error },
    /// A clip is not what it should be.
    #[error("{path}: {reason}")]
    Clip { path: PathBuf, reason: String },
    /// A safetensors document is not what it should be, or can't hold what it should.
    #[error("{place}: {reason}")]
    Tensors { place: String, reason: String },
    /// No numbers can be made up for a program's inputs.
    #[error("{0}")]
    Inputs(String),
    /// Nothing more can be written to stdout.
    #[error("cannot write the result: {0}")]
    Write(std::io::Error),
    /// A file could not be written.
    #[error("cannot write {path}: {source}")]
    WriteFile { path: PathBuf, source: std::io::Error },
    /// The pipeline failed.
    #[error("{}{source}", .place.as_ref().map(|place| format!("{place}: ")).unwrap_or_default())]
    Pipeline { place: Option<String>, source: nearside_pipeline::Error },
    /// Some of the images failed; each has been reported.
    #[error("{failed} of {all} images or frames failed")]
    SomeFailed { failed: usize, all: usize },
}

impl Error {
    /// Whether whoever reads the result has seen enough, as `head` does: no failure.
    pub(crate) fn is_broken_pipe(&self) -> bool {
        matches!(self, Self::Write(error) if error.kind() == std::io::ErrorKind::BrokenPipe)
    }

    /// Tells the user. Where stderr can't be written to, only the exit code is left to tell.
    pub(crate) fn print(&self) {
        let mut text = format!("error: {self}\n");
        if let Some(hint) = self.hint() {
            text += &format!("hint: {hint}\n");
        }
        let _ = std::io::stderr().lock().write_all(text.as_bytes());
    }

    pub(crate) fn hint(&self) -> Option<&str> {
        match self {
            Self::Usage(_) => Some("`nearside help` and `nearside help COMMAND` show what can be given"),
            Self::Read { .. } => Some("check that the path exists and may be read"),
            Self::Clip { .. } => Some(
                "give a .y4m file, or raw frames with --format and --size (and --row-stride, --pixel-stride)",
            ),
            Self::Tensors { .. } => Some(
                "give safetensors whose tensors are named 0, 1, … in the order of the method's inputs, of their types and \
                 shapes; `nearside inspect` shows them",
            ),
            Self::Inputs(_) => Some("profile a program that was exported with smaller inputs of usual types"),
            Self::Pipeline { source, .. } => Some(source.hint()),
            Self::WriteFile { .. } => Some("check that its folder exists and may be written to"),
            Self::Write(_) => Some("check that there is room where stdout goes"),
            Self::SomeFailed { .. } => None,
        }
    }

    pub(crate) fn exit_code(&self) -> ExitCode {
        match self {
            Self::Usage(_) => ExitCode::from(2),
            _ => ExitCode::FAILURE,
        }
    }
}

impl From<nearside_pipeline::Error> for Error {
    fn from(source: nearside_pipeline::Error) -> Self {
        Self::Pipeline { place: None, source }
    }
}

impl From<nearside_pipeline::runtime::Error> for Error {
    fn from(source: nearside_pipeline::runtime::Error) -> Self {
        nearside_pipeline::Error::from(source).into()
    }
}
