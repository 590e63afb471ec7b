//! Text models: sessions of them, and the answers that they generate.

mod event;
mod generation;
mod info;
mod message;
mod model;
mod request;
mod sampling;
mod session;
mod statistics;
mod thread;

pub use event::{DroppedText, FinishReason, TextEvent};
pub use generation::TextGeneration;
pub use info::TextModelInfo;
pub use message::{ChatMessage, ToolCall, ToolDefinition};
pub use model::{TextModel, ThermalState, open_text_model};
pub use request::{GenerateRequest, Grammar, Prompt, Speculation, WhenFull};
pub use sampling::{SamplingOptions, TokenBias};
pub use session::TextSession;
pub use statistics::{TextStatistics, TokenIntervals};

use crate::{NearsideError, Result};

/// A number from an app that counts something.
fn counted(what: &str, number: i32) -> Result<usize> {
    usize::try_from(number).map_err(|_| invalid(format!("{what} can't be {number}"), "give 0 or more"))
}

fn invalid(detail: String, hint: &str) -> NearsideError {
    NearsideError::InvalidInput { detail, hint: hint.to_owned() }
}

/// JSON that an app has written.
fn json<T: serde::de::DeserializeOwned>(what: &str, text: &str) -> Result<T> {
    serde_json::from_str(text).map_err(|error| {
        invalid(format!("{what} is not the JSON that is expected: {error}"), "correct the JSON")
    })
}
