//! What a generation tells while it runs.

use crate::statistics::Statistics;
use crate::tools::ToolCall;

/// What a generation tells while it runs. Texts are borrowed: a token costs no allocation.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub enum Event<'a> {
    /// A token of the answer, and what can be shown by now.
    Token {
        /// Its id; `None` for text that was held back until the end.
        id: Option<u32>,
        /// Whole characters. Empty where a character is not complete, where the token is special, or where the text may
        /// become a stop string.
        text: &'a str,
    },
    /// A call of a tool in the answer, which is complete.
    ToolCall(&'a ToolCall),
    /// The context has no more room. What follows is the end, or the rest of the answer on a shortened conversation.
    ContextFull(ContextFull),
    /// The end. Nothing follows.
    Finished(&'a Finished),
}

/// The context has no more room.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ContextFull {
    /// Tokens that should be in the context.
    pub tokens: usize,
    /// Tokens for which there is room.
    pub context_length: usize,
    /// What was dropped to make room; `None` if the generation stops.
    pub dropped: Option<Dropped>,
}

/// What was dropped to make room.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Dropped {
    /// Messages of the conversation, oldest first. 0 for a text without messages.
    pub messages: usize,
    /// Tokens.
    pub tokens: usize,
}

/// How an answer ended, and what it took.
#[derive(Debug, Clone, PartialEq)]
pub struct Finished {
    /// Why it ended.
    pub reason: Reason,
    /// The text of the answer, as it was told.
    pub text: String,
    /// What it took.
    pub statistics: Statistics,
}

/// Why an answer ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum Reason {
    /// The model ended it with this token, which is not part of the answer.
    EndOfSequence(u32),
    /// The stop string of this index was there, which is not part of the answer.
    StopString(usize),
    /// It has as many tokens as were asked for.
    MaxTokens,
    /// The grammar allows no more.
    GrammarEnd,
    /// The context is full.
    ContextFull,
    /// It was cancelled.
    Cancelled,
}

impl Reason {
    /// Its name: `end_of_sequence`, `stop_string`, `max_tokens`, `grammar_end`, `context_full`, `cancelled`.
    pub fn name(self) -> &'static str {
        match self {
            Self::EndOfSequence(_) => "end_of_sequence",
            Self::StopString(_) => "stop_string",
            Self::MaxTokens => "max_tokens",
            Self::GrammarEnd => "grammar_end",
            Self::ContextFull => "context_full",
            Self::Cancelled => "cancelled",
        }
    }
}
