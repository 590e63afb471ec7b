//! What an embedding is: the entry `embedding`.

use super::{ParseError, at_least};
use serde::{Deserialize, Serialize};

/// What the embedding of a text is. Pooling and normalising happen inside the program.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct EmbeddingEntry {
    /// Its length: the program gives f32 `[1, dimensions]`.
    pub dimensions: u32,
    /// How the tokens' vectors became one.
    pub pooling: Pooling,
    /// Whether it was scaled to length 1, so that a dot product is the cosine.
    pub normalize: bool,
    /// The most tokens that the program takes, special ones included. Longer texts are cut.
    pub max_tokens: u32,
}

/// How the vectors of all tokens become one.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Pooling {
    /// Their mean.
    Mean,
    /// The first one.
    Cls,
    /// The last one.
    Last,
}

impl EmbeddingEntry {
    pub(super) fn check(&self) -> Result<(), ParseError> {
        at_least("embedding: dimensions", self.dimensions, 1)?;
        at_least("embedding: max_tokens", self.max_tokens, 1)
    }
}
