//! Texts to tokens and back.

mod bytes;
mod huggingface;

use crate::error::{Error, Result};
use std::fmt;
use std::path::Path;
use std::sync::Arc;

/// More than any vocabulary has.
const MOST_TOKENS: usize = 1 << 22;

/// A tokenizer. Cheap to clone, can be shared between threads.
#[derive(Clone)]
pub struct Tokenizer {
    parts: Arc<Parts>,
}

struct Parts {
    inner: huggingface::Inner,
    /// By id: what a token adds in the middle of a text; `None` for ids that no token has.
    bytes: Vec<Option<Box<[u8]>>>,
    /// By id.
    special: Vec<bool>,
    strips_leading_space: bool,
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
        let contents = std::fs::read(path).map_err(|source| Error::Read { path: path.to_owned(), source })?;
        Self::from_bytes(&contents, &path.display().to_string())
    }

    /// Reads a file's `contents`; errors call it `name`.
    ///
    /// # Errors
    /// [`Error::Tokenizer`].
    pub fn from_bytes(contents: &[u8], name: &str) -> Result<Self> {
        Ok(Self { parts: Arc::new(huggingface::read(contents, name)?) })
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

    /// The id of the token that is written `token` in the vocabulary.
    pub fn id_of(&self, token: &str) -> Option<u32> {
        self.parts.inner.id_of(token)
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
