//! What is asked of a session.

use nearside_pipeline::language;

use super::{ChatMessage, SamplingOptions, ToolDefinition, counted, json};
use crate::Result;

/// What is asked of a session.
#[derive(Clone, Debug, PartialEq, uniffi::Record)]
pub struct GenerateRequest {
    /// What the answer follows.
    pub prompt: Prompt,
    /// The most tokens of the answer; as many as there is room for if unset.
    pub max_new_tokens: Option<i32>,
    /// How tokens are chosen; as the model's package says if unset.
    pub sampling: Option<SamplingOptions>,
    /// Texts that end the answer. They are no part of it.
    pub stop: Vec<String>,
    /// What the answer must look like.
    pub grammar: Option<Grammar>,
    /// Whether special tokens are shown.
    pub show_special: bool,
    /// Whether the answer goes on after tokens that would end it: for measurements.
    pub ignore_end: bool,
    /// What happens when the context is full.
    pub when_full: WhenFull,
    /// How tokens are guessed, so that several can be computed at once.
    pub speculation: Speculation,
}

/// What an answer follows.
#[derive(Clone, Debug, PartialEq, uniffi::Enum)]
pub enum Prompt {
    /// A text as it is, from its beginning: what the session has computed of it is used again.
    Text {
        /// The text. Names of special tokens in it become these tokens.
        text: String,
    },
    /// Messages that follow those of the session: usually one of the user.
    Turn {
        /// The messages.
        messages: Vec<ChatMessage>,
    },
    /// A conversation from its beginning.
    Conversation {
        /// The messages, oldest first.
        messages: Vec<ChatMessage>,
        /// The tools that the model may call.
        tools: Vec<ToolDefinition>,
        /// Variables of the chat template, such as `{"enable_thinking": false}`: a JSON object, or unset.
        variables: Option<String>,
    },
    /// Nothing: an answer that was cancelled or reached its number of tokens goes on.
    Continue,
}

/// What an answer must look like.
#[derive(Clone, Debug, PartialEq, Eq, uniffi::Enum)]
pub enum Grammar {
    /// JSON that a schema accepts.
    JsonSchema {
        /// The schema, as JSON.
        schema: String,
    },
    /// A text that a regular expression matches as a whole.
    Regex {
        /// The expression, without anchors.
        pattern: String,
    },
    /// A text of a context-free grammar.
    Lark {
        /// The grammar in llguidance's variant of Lark, with the rule `start`.
        grammar: String,
    },
}

/// What happens when the context is full.
#[derive(Clone, Copy, Debug, PartialEq, Eq, uniffi::Enum)]
pub enum WhenFull {
    /// The answer ends.
    Stop,
    /// The oldest turns are dropped, but for the system prompt. Of a text, the older half.
    Shift,
}

/// How tokens are guessed. The answer stays the same.
#[derive(Clone, Copy, Debug, PartialEq, Eq, uniffi::Enum)]
pub enum Speculation {
    /// Not at all.
    Off,
    /// From what the text has had before.
    PromptLookup {
        /// The most tokens that are looked up together.
        longest: i32,
        /// The most tokens that are guessed at once.
        most: i32,
    },
    /// By the draft model.
    Draft {
        /// So many at once.
        tokens: i32,
    },
}

impl GenerateRequest {
    pub(super) fn translated(self, defaults: &language::SamplingOptions) -> Result<language::Request> {
        Ok(language::Request {
            prompt: self.prompt.try_into()?,
            max_new_tokens: self
                .max_new_tokens
                .map(|tokens| counted("max_new_tokens", tokens))
                .transpose()?,
            sampling: self.sampling.map_or_else(|| Ok(defaults.clone()), TryInto::try_into)?,
            stop: self.stop,
            grammar: self.grammar.map(TryInto::try_into).transpose()?,
            show_special: self.show_special,
            ignore_end: self.ignore_end,
            when_full: match self.when_full {
                WhenFull::Stop => language::WhenFull::Stop,
                WhenFull::Shift => language::WhenFull::Shift,
            },
            speculation: self.speculation.try_into()?,
        })
    }
}

fn messages(messages: Vec<ChatMessage>) -> Result<Vec<language::Message>> {
    messages.into_iter().map(TryInto::try_into).collect()
}

impl TryFrom<Prompt> for language::Prompt {
    type Error = crate::NearsideError;

    fn try_from(prompt: Prompt) -> Result<Self> {
        Ok(match prompt {
            Prompt::Text { text } => Self::Text(text),
            Prompt::Turn { messages } => Self::Turn(self::messages(messages)?),
            Prompt::Conversation { messages, tools, variables } => {
                Self::Conversation(language::Conversation {
                    messages: self::messages(messages)?,
                    tools: tools.into_iter().map(TryInto::try_into).collect::<Result<_>>()?,
                    variables: variables
                        .map(|variables| json("the template's variables", &variables))
                        .transpose()?
                        .unwrap_or_default(),
                })
            }
            Prompt::Continue => Self::Continue,
        })
    }
}

impl TryFrom<Grammar> for language::Grammar {
    type Error = crate::NearsideError;

    fn try_from(grammar: Grammar) -> Result<Self> {
        Ok(match grammar {
            Grammar::JsonSchema { schema } => Self::JsonSchema(json("the schema", &schema)?),
            Grammar::Regex { pattern } => Self::Regex(pattern),
            Grammar::Lark { grammar } => Self::Lark(grammar),
        })
    }
}

impl TryFrom<Speculation> for language::Speculation {
    type Error = crate::NearsideError;

    fn try_from(speculation: Speculation) -> Result<Self> {
        Ok(match speculation {
            Speculation::Off => Self::None,
            Speculation::PromptLookup { longest, most } => Self::PromptLookup(language::PromptLookup {
                longest: counted("longest", longest)?,
                most: counted("most", most)?,
            }),
            Speculation::Draft { tokens } => Self::Draft(counted("tokens", tokens)?),
        })
    }
}
