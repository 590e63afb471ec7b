//! Texts to tokens and back.

mod base64;
mod byte_level;
mod bytes;
mod charsmap;
mod gguf;
mod huggingface;
mod limits;
mod pieces;
mod pipeline;
mod sentencepiece;
mod tiktoken;

pub use tiktoken::TiktokenOptions;

use crate::error::{Error, Result};
use std::collections::HashSet;
use std::fmt;
use std::fs::File;
use std::io::Read as _;
use std::path::Path;
use std::sync::Arc;

/// More than any vocabulary has.
const MOST_TOKENS: usize = 1 << 22;

/// What is read of a file. Of GGUF's, the weights follow.
const MOST_BYTES: u64 = 1 << 27;

/// What may be made of a text on its way to tokens.
const MOST_TEXT_BYTES: u64 = 1 << 31;

/// A tokenizer. Cheap to clone, can be shared between threads.
#[derive(Clone)]
pub struct Tokenizer {
    parts: Arc<Parts>,
}

struct Parts {
    inner: huggingface::Inner,
    /// By id: what a token adds in the middle of a text; `None` for ids that no token has.
    bytes: Vec<Option<Box<[u8]>>>,
    /// Those that are found as they are, special or not.
    added: HashSet<u32>,
    /// By id.
    special: Vec<bool>,
    strips_leading_space: bool,
    /// How many times longer a text may become on its way to tokens.
    growth: u64,
    /// The chat template in the file.
    template: Option<String>,
    bos: Option<u32>,
    eos: Vec<u32>,
}

/// How a text becomes tokens.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct EncodeOptions {
    /// Whether the tokens that the tokenizer puts around a text are added, such as one for its beginning.
    pub add_special: bool,
    /// Whether a special token's text becomes that token. Text of users should not: it would end turns.
    pub parse_special: bool,
}

impl Tokenizer {
    /// Reads the file at `path`.
    ///
    /// # Errors
    /// [`Error::Read`], and [`Error::Tokenizer`] if it is damaged or of no known kind.
    pub fn open(path: impl AsRef<Path>) -> Result<Self> {
        let path = path.as_ref();
        let read = |source| Error::Read { path: path.to_owned(), source };
        let mut contents = Vec::new();
        let file = File::open(path).map_err(read)?;
        let expected = file.metadata().map_err(read)?.len().min(MOST_BYTES);
        contents.reserve(usize::try_from(expected).unwrap_or(0));
        file.take(MOST_BYTES).read_to_end(&mut contents).map_err(read)?;
        Self::from_bytes(&contents, &path.display().to_string())
    }

    /// Reads a file's `contents`, of which the kind is told; errors call it `name`. A tiktoken file is taken for one of
    /// Llama 3: see [`Tokenizer::from_tiktoken`] for others.
    ///
    /// # Errors
    /// [`Error::Tokenizer`].
    pub fn from_bytes(contents: &[u8], name: &str) -> Result<Self> {
        if gguf::is_one(contents) {
            Self::of(|| gguf::read(contents, name), name)
        } else if huggingface::is_one(contents) {
            Self::of(|| huggingface::read(contents, name), name)
        } else if sentencepiece::is_one(contents) {
            Self::of(|| sentencepiece::read(contents, name), name)
        } else if tiktoken::is_one(contents) {
            Self::from_tiktoken(contents, &TiktokenOptions::llama3(), name)
        } else {
            Err(pipeline::damaged(name, "it begins as none of the known kinds"))
        }
    }

    /// Reads the `contents` of a tiktoken file, which say nothing of words and special tokens.
    ///
    /// # Errors
    /// [`Error::Tokenizer`].
    pub fn from_tiktoken(contents: &[u8], options: &TiktokenOptions, name: &str) -> Result<Self> {
        Self::of(|| tiktoken::read(contents, options, name), name)
    }

    fn of(read: impl FnOnce() -> Result<Parts>, name: &str) -> Result<Self> {
        let parts = pipeline::guarded(read).map_err(|reason| pipeline::damaged(name, reason))??;
        Ok(Self { parts: Arc::new(parts) })
    }

    /// One more than the largest id.
    pub fn vocab_size(&self) -> usize {
        self.parts.bytes.len()
    }

    /// The tokens of `text`.
    ///
    /// # Errors
    /// [`Error::Tokenize`].
    pub fn encode(&self, text: &str, options: EncodeOptions) -> Result<Vec<u32>> {
        let most = (text.len() as u64).saturating_mul(self.parts.growth);
        if most > MOST_TEXT_BYTES {
            let reason = format!("a text of {} bytes is too long for it", text.len());
            return Err(Error::Tokenize { reason });
        }
        self.parts.inner.encode(text, options)
    }

    /// The text of `ids`, without special tokens if `skip_special`.
    ///
    /// # Errors
    /// [`Error::Tokenize`].
    pub fn decode(&self, ids: &[u32], skip_special: bool) -> Result<String> {
        self.parts.inner.decode(ids, skip_special)
    }

    /// The bytes that the token `id` adds in the middle of a text: a part of a character, perhaps. For special tokens
    /// their text; `None` if there is no such token.
    pub fn token_bytes(&self, id: u32) -> Option<&[u8]> {
        self.parts.bytes.get(id as usize)?.as_deref()
    }

    /// Whether decoding drops the first space of a text, as SentencePiece does.
    pub fn strips_leading_space(&self) -> bool {
        self.parts.strips_leading_space
    }

    /// Whether the token `id` is a special one, which is not for people to see.
    pub fn is_special(&self, id: u32) -> bool {
        self.parts.special.get(id as usize).copied().unwrap_or(false)
    }

    /// Whether the token `id` is found in texts as it is, before anything else is done to them, special or not.
    pub fn is_added(&self, id: u32) -> bool {
        self.parts.added.contains(&id)
    }

    /// The id of the token that is written `token` in the vocabulary.
    pub fn id_of(&self, token: &str) -> Option<u32> {
        self.parts.inner.id_of(token)
    }

    /// The chat template that the file holds: GGUF files may, see [`ChatTemplate`](crate::ChatTemplate).
    pub fn chat_template(&self) -> Option<&str> {
        self.parts.template.as_deref()
    }

    /// The token that texts begin with, where the file tells.
    pub fn bos_id(&self) -> Option<u32> {
        self.parts.bos
    }

    /// The tokens that texts end with, where the file tells.
    pub fn eos_ids(&self) -> &[u32] {
        &self.parts.eos
    }
}

impl fmt::Debug for Tokenizer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Tokenizer").field("vocab_size", &self.vocab_size()).finish_non_exhaustive()
    }
}
