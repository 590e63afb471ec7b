//! Sessions in files.
//!
//! Format, numbers little-endian: the magic `NSSESS01`; the header's length (u32); the header, JSON; its CRC-32 (u32); then,
//! if the KV cache is there, a snapshot as the runtime writes it, to the end of the file.

use super::history::{End, History};
use super::{Resident, Session, State, lock};
use crate::decoder::Written;
use crate::error::{Error, Result};
use crate::model::LanguageModel;
use crate::request::Conversation;
use crate::sampling::{Sampler, SamplingOptions};
use nearside_runtime::Snapshot;
use serde::{Deserialize, Serialize};
use std::fs::File;
use std::io::{self, BufWriter, Read, Write};
use std::path::{Path, PathBuf};
use std::sync::Arc;

const MAGIC: &[u8; 8] = b"NSSESS01";
/// Far more than the text of any context has.
const MAX_HEADER_BYTES: u32 = 1 << 28;

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Header {
    context_length: usize,
    vocab_size: usize,
    tokens: Vec<u32>,
    text: Vec<u8>,
    ends: Vec<End>,
    cached: usize,
    /// [`Written`].
    high: usize,
    conversation: Option<Conversation>,
    answered: usize,
    sampling: Option<SamplingOptions>,
    sampler: Option<Sampler>,
}

impl Session {
    /// Writes it to `path`, KV cache included, so that it goes on in this process or another as it would have here, bit for bit.
    /// The file is complete or, after an error, as it was.
    ///
    /// # Errors
    /// [`Error::Poisoned`], [`Error::Write`], the runtime's.
    pub fn save(&self, model: &LanguageModel, path: impl AsRef<Path>) -> Result<()> {
        if let Some(reason) = &self.poisoned {
            return Err(Error::Poisoned { reason: reason.clone() });
        }
        let resident = self.is_resident(model);
        let state = lock(&self.state);
        let snapshot = match &state.aside {
            None if resident && state.cached > 0 => Some(Arc::new(model.decoder.snapshot()?)),
            kept => kept.clone(),
        };
        let (sampling, sampler) = self.sampler.clone().unzip();
        let header = Header {
            context_length: model.facts().context_length,
            vocab_size: model.facts().vocab_size,
            tokens: state.history.tokens().to_vec(),
            text: state.history.text().to_vec(),
            ends: state.history.ends().to_vec(),
            cached: if snapshot.is_some() { state.cached } else { 0 },
            high: state.written.high(),
            conversation: self.conversation.clone(),
            answered: self.answered,
            sampling,
            sampler,
        };
        let path = path.as_ref();
        let written = serde_json::to_vec(&header)
            .map_err(io::Error::other)
            .and_then(|header| write_beside(path, &header, snapshot.as_deref()));
        written.map_err(|source| Error::Write { path: path.to_owned(), source })
    }

    /// Reads the session in the file at `path`.
    ///
    /// # Errors
    /// [`Error::Read`], [`Error::SessionDamaged`], [`Error::SessionMismatch`] if it is of another model, or of another variant
    /// of it.
    pub fn open(model: &mut LanguageModel, path: impl AsRef<Path>) -> Result<Self> {
        let path = path.as_ref();
        let damaged = |reason: String| Error::SessionDamaged { path: path.to_owned(), reason };
        let (header, snapshot_at, length) = read_header(path)?;
        let facts = model.facts();
        let differs = |what: &str, found: usize, wanted: usize| Error::SessionMismatch {
            path: path.to_owned(),
            reason: format!("its {what} is {found}, the model's is {wanted}"),
        };
        if header.vocab_size != facts.vocab_size {
            return Err(differs("vocabulary", header.vocab_size, facts.vocab_size));
        }
        if header.context_length != facts.context_length {
            return Err(differs("context", header.context_length, facts.context_length));
        }
        let (tokens, cached) = (header.tokens.len(), header.cached);
        let within = header.tokens.iter().all(|&token| (token as usize) < facts.vocab_size)
            && cached <= tokens
            && cached <= header.high
            && header.high <= facts.context_length;
        let messages = header.conversation.as_ref().map_or(0, |conversation| conversation.messages.len());
        let history = History::of(header.tokens, header.text, header.ends);
        let Some(history) = history.filter(|_| within && header.answered <= messages) else {
            return Err(damaged("its parts do not fit each other".into()));
        };
        let aside = if snapshot_at < length {
            let snapshot =
                Snapshot::open_at(path, snapshot_at).map_err(|error| damaged(error.to_string()))?;
            fits(model, &snapshot, path)?;
            Some(Arc::new(snapshot))
        } else if cached > 0 {
            return Err(damaged("its KV cache is missing".into()));
        } else {
            None
        };
        let state = State { model: model.id, history, cached, written: Written::of(header.high), aside };
        Ok(Self {
            state: Resident::new(state.into()),
            conversation: header.conversation,
            answered: header.answered,
            sampler: header.sampling.zip(header.sampler),
            poisoned: None,
        })
    }
}

/// Tells at once, and not at the next answer, if the KV cache is of another program.
fn fits(model: &LanguageModel, snapshot: &Snapshot, path: &Path) -> Result<()> {
    let mismatch = |error: nearside_runtime::Error| Error::SessionMismatch {
        path: path.to_owned(),
        reason: error.to_string(),
    };
    model.decoder.check_snapshot(snapshot).map_err(|error| match error {
        Error::Runtime(error) => mismatch(error),
        other => other,
    })
}

fn read_header(path: &Path) -> Result<(Header, u64, u64)> {
    let read = |source| Error::Read { path: path.to_owned(), source };
    let damaged = |reason: &str| Error::SessionDamaged { path: path.to_owned(), reason: reason.to_owned() };
    let metadata = std::fs::metadata(path).map_err(read)?;
    if !metadata.is_file() {
        return Err(read(io::Error::new(io::ErrorKind::InvalidInput, "it is not a regular file")));
    }
    let mut file = File::open(path).map_err(read)?;
    let mut start = [0; 12];
    let cut = |error: io::Error| match error.kind() {
        io::ErrorKind::UnexpectedEof => damaged("it is cut short"),
        _ => read(error),
    };
    file.read_exact(&mut start).map_err(cut)?;
    if start[..8] != MAGIC[..] {
        return Err(damaged("it is not a session"));
    }
    let bytes = u32::from_le_bytes([start[8], start[9], start[10], start[11]]);
    if bytes > MAX_HEADER_BYTES || u64::from(bytes) > metadata.len() {
        return Err(damaged("its header is not as long as it says"));
    }
    let mut header = vec![0; bytes as usize];
    let mut crc = [0; 4];
    file.read_exact(&mut header).and_then(|()| file.read_exact(&mut crc)).map_err(cut)?;
    if crc != crc32fast::hash(&header).to_le_bytes() {
        return Err(damaged("its header was changed"));
    }
    let parsed = serde_json::from_slice(&header)
        .map_err(|error| damaged(&format!("its header can't be read: {error}")))?;
    Ok((parsed, (start.len() + header.len() + crc.len()) as u64, metadata.len()))
}

/// Writes a file beside `path` and moves it there when it is complete.
fn write_beside(path: &Path, header: &[u8], snapshot: Option<&Snapshot>) -> io::Result<()> {
    let mut beside = path.as_os_str().to_owned();
    beside.push(format!(".{}.tmp", std::process::id()));
    let beside = PathBuf::from(beside);
    let write = || -> io::Result<()> {
        // The move would take the place of a device or pipe.
        if std::fs::symlink_metadata(path).is_ok_and(|found| !found.is_file() && !found.is_symlink()) {
            return Err(io::Error::new(io::ErrorKind::InvalidInput, "it is not a regular file"));
        }
        let length = u32::try_from(header.len()).ok().filter(|&length| length <= MAX_HEADER_BYTES);
        let length = length.ok_or_else(|| io::Error::other("the session's text is too long"))?;
        let mut file = BufWriter::new(File::create(&beside)?);
        file.write_all(MAGIC)?;
        file.write_all(&length.to_le_bytes())?;
        file.write_all(header)?;
        file.write_all(&crc32fast::hash(header).to_le_bytes())?;
        if let Some(snapshot) = snapshot {
            snapshot.write_to(&mut file)?;
        }
        file.into_inner().map_err(io::IntoInnerError::into_error)?.sync_all()?;
        std::fs::rename(&beside, path)
    };
    write().inspect_err(|_| {
        let _ = std::fs::remove_file(&beside);
    })
}
