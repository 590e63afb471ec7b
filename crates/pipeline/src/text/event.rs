//! What a generation tells, with memory of its own.

use nearside_language::{ContextFull, Event, Finished, ToolCall};

/// What a generation tells while it runs.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub enum TextEvent {
    /// A token of the answer, and what can be shown by now.
    Token {
        /// Its id; `None` for text that was held back until the end.
        id: Option<u32>,
        /// Whole characters. Empty where a character is not complete, where the token is special, or where the text may
        /// become a stop string.
        text: String,
    },
    /// A call of a tool in the answer.
    ToolCall(ToolCall),
    /// The context has no more room. What follows is the end, or the rest of the answer on a shortened conversation.
    ContextFull(ContextFull),
    /// The end. Nothing follows.
    Finished(Box<Finished>),
}

impl TextEvent {
    /// `None` for what this crate does not know, and for the end, which has its own way.
    pub(super) fn of(event: Event<'_>) -> Option<Self> {
        match event {
            Event::Token { id, text } => Some(Self::Token { id, text: text.to_owned() }),
            Event::ToolCall(call) => Some(Self::ToolCall(call.clone())),
            Event::ContextFull(full) => Some(Self::ContextFull(full)),
            _ => None,
        }
    }
}
