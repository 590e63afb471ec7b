//! Text and tokens: tokenizers, chat templates, sampling, stop rules and the decode loop.

mod error;
mod tokenizer;

pub use error::{Error, Result};
pub use tokenizer::{EncodeOptions, Tokenizer};
