//! Text and tokens: tokenizers, chat templates, sampling, stop rules and the decode loop.

mod constraint;
mod error;
mod sampling;
mod stream;
mod template;
mod tokenizer;
mod tools;

pub use constraint::{Constraint, Grammar, GrammarCompiler};
pub use error::{Error, Result};
pub use sampling::{Sampler, SamplingOptions, TokenMask};
pub use stream::{Piece, StreamOptions, TextStream};
pub use template::{ChatTemplate, Message, RenderOptions, SpecialTokens, Tool};
pub use tokenizer::{EncodeOptions, Tokenizer};
pub use tools::{ToolCall, ToolEvent, ToolFormat, ToolParser, ToolSignature};
