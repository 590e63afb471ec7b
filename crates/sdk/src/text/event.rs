//! What an answer tells while it is generated.

use nearside_pipeline as pipeline;
use pipeline::language;

use super::TextStatistics;
use crate::classification::count;
use crate::{NearsideError, Result};

/// What an answer tells while it is generated.
#[derive(Clone, Debug, PartialEq, uniffi::Enum)]
pub enum TextEvent {
    /// A token, and what can be shown by now. The texts of all of them are the answer.
    Token {
        /// Whole characters. Empty where a character is not complete, where the token is special, or where the text may
        /// become a stop string.
        text: String,
        /// The token's id; unset for text that was held back until the end.
        id: Option<i32>,
    },
    /// A call of a tool, which is complete.
    ToolCall {
        /// The tool.
        name: String,
        /// Its arguments, a JSON object.
        arguments: String,
        /// What the answer to it refers to, where the model says.
        call_id: Option<String>,
    },
    /// The context has no more room. What follows is the end, or the rest of the answer on a shortened conversation.
    ContextFull {
        /// Tokens that should be in the context.
        tokens: i32,
        /// Tokens for which there is room.
        context_length: i32,
        /// What was dropped to make room; unset if the answer ends.
        dropped: Option<DroppedText>,
    },
    /// The end. Nothing follows.
    Finished {
        /// Why.
        reason: FinishReason,
        /// The whole answer.
        text: String,
        /// What it took.
        statistics: TextStatistics,
    },
}

/// What was dropped to make room in the context.
#[derive(Clone, Copy, Debug, PartialEq, Eq, uniffi::Record)]
pub struct DroppedText {
    /// Messages of the conversation, oldest first; 0 for a text without messages.
    pub messages: i32,
    /// Tokens.
    pub tokens: i32,
}

/// Why an answer ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq, uniffi::Enum)]
pub enum FinishReason {
    /// The model ended it.
    EndOfSequence {
        /// With this token, which is no part of the answer.
        id: i32,
    },
    /// A stop string was there, which is no part of the answer.
    StopString {
        /// Its index among those of the request.
        index: i32,
    },
    /// It has as many tokens as were asked for.
    MaxTokens,
    /// The grammar allows no more.
    GrammarEnd,
    /// The context is full.
    ContextFull,
    /// It was cancelled.
    Cancelled,
}

impl TryFrom<pipeline::TextEvent> for TextEvent {
    type Error = NearsideError;

    fn try_from(event: pipeline::TextEvent) -> Result<Self> {
        match event {
            pipeline::TextEvent::Token { id, text } => Ok(Self::Token { text, id: id.map(count) }),
            pipeline::TextEvent::ToolCall(call) => Ok(Self::ToolCall {
                name: call.name,
                arguments: serde_json::Value::Object(call.arguments).to_string(),
                call_id: call.id,
            }),
            pipeline::TextEvent::ContextFull(full) => Ok(Self::ContextFull {
                tokens: count(full.tokens),
                context_length: count(full.context_length),
                dropped: full.dropped.map(|dropped| DroppedText {
                    messages: count(dropped.messages),
                    tokens: count(dropped.tokens),
                }),
            }),
            pipeline::TextEvent::Finished(finished) => Ok(Self::Finished {
                reason: finished.reason.try_into()?,
                text: finished.text,
                statistics: (&finished.statistics).into(),
            }),
            other => Err(NearsideError::internal("events", format!("{other:?} is not known here"))),
        }
    }
}

impl TryFrom<language::Reason> for FinishReason {
    type Error = NearsideError;

    fn try_from(reason: language::Reason) -> Result<Self> {
        match reason {
            language::Reason::EndOfSequence(id) => Ok(Self::EndOfSequence { id: count(id) }),
            language::Reason::StopString(index) => Ok(Self::StopString { index: count(index) }),
            language::Reason::MaxTokens => Ok(Self::MaxTokens),
            language::Reason::GrammarEnd => Ok(Self::GrammarEnd),
            language::Reason::ContextFull => Ok(Self::ContextFull),
            language::Reason::Cancelled => Ok(Self::Cancelled),
            other => Err(NearsideError::internal("reasons", format!("{other:?} is not known here"))),
        }
    }
}
