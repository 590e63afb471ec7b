//! Text and tokens: tokenizers, chat templates, sampling, stop rules and the decode loop.

mod cancellation;
mod constraint;
mod decoder;
mod error;
mod event;
mod model;
mod request;
mod sampling;
mod session;
mod speculative;
mod statistics;
mod stream;
mod template;
mod tokenizer;
mod tools;

pub use cancellation::Cancellation;
pub use constraint::{Constraint, Grammar, GrammarCompiler};
pub use decoder::{Decoder, DecoderFacts, Sliding};
pub use error::{Error, Result};
pub use event::{ContextFull, Dropped, Event, Finished, Reason};
pub use model::LanguageModel;
pub use request::{Conversation, Prompt, Request, Speculation, WhenFull};
pub use sampling::{Sampler, SamplingOptions, TokenMask};
pub use session::Session;
pub use speculative::PromptLookup;
pub use statistics::{Percentiles, Statistics, ThermalState};
pub use stream::{Piece, StreamOptions, TextStream};
pub use template::{ChatTemplate, Message, RenderOptions, SpecialTokens, Tool};
pub use tokenizer::{EncodeOptions, TiktokenOptions, Tokenizer};
pub use tools::{ToolCall, ToolEvent, ToolFormat, ToolParser, ToolSignature};
