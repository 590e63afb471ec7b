//! What the files of a program say: read and verified here, before any C++ sees them.

mod data_file;
mod header;
mod map;
mod plan;
mod program;
mod source;
mod tensor;
mod value;

pub use data_file::{DataFile, NamedTensor, TensorLayout};
pub(crate) use map::SLACK;
pub use plan::{CompileSpec, FileDelegate, Instruction, MethodFile};
pub use program::{NamedData, ProgramFile};
pub(crate) use source::{Source, open_regular};
pub use value::{Dynamism, FileTensor, FileValue, Initial, Storage};

use flatbuffers::{InvalidFlatbuffer, VerifierOptions};

/// Limits of the structural check. A program of the largest models known has some ten thousand tables, eight deep.
///
/// Tables and lists of a hostile file may be referred to from many places, and each place is read: a file is not to take
/// more than a multiple of its own length in memory. No exporter lets more than the layouts of tables be shared, which
/// count some four times.
fn verifier(bytes: usize) -> VerifierOptions {
    VerifierOptions {
        max_depth: 64,
        max_tables: 1_000_000,
        max_apparent_size: bytes.saturating_mul(16).saturating_add(1 << 16),
        ..VerifierOptions::default()
    }
}

/// Why a flatbuffer can't be read: the error's first line, the rest is a trace through the schema.
fn unreadable(error: &InvalidFlatbuffer) -> String {
    let text = error.to_string();
    let line = text.lines().next().unwrap_or_default().trim_end_matches('.');
    format!("its description can't be read: {line}")
}
