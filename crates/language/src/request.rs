//! What is asked of a session.

use crate::constraint::Grammar;
use crate::sampling::SamplingOptions;
use crate::speculative::PromptLookup;
use crate::template::{Message, Tool};
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

/// What is asked of a session.
#[derive(Debug, Clone)]
pub struct Request {
    /// What the answer follows.
    pub prompt: Prompt,
    /// The most tokens of the answer; `None` for as many as there is room for.
    pub max_new_tokens: Option<usize>,
    /// How tokens are chosen. The first one too.
    pub sampling: SamplingOptions,
    /// Texts that end the answer. They are no part of it.
    pub stop: Vec<String>,
    /// What the answer must look like.
    pub grammar: Option<Grammar>,
    /// Whether special tokens are shown.
    pub show_special: bool,
    /// Whether the answer goes on after end-of-sequence tokens: for measurements.
    pub ignore_end: bool,
    /// What happens when the context is full.
    pub when_full: WhenFull,
    /// How tokens are guessed, so that several can be computed at once.
    pub speculation: Speculation,
}

impl Request {
    /// A request with the options that are usual: the most likely tokens, no limit, no stop strings.
    pub fn new(prompt: Prompt) -> Self {
        Self {
            prompt,
            max_new_tokens: None,
            sampling: SamplingOptions::greedy(),
            stop: Vec::new(),
            grammar: None,
            show_special: false,
            ignore_end: false,
            when_full: WhenFull::default(),
            speculation: Speculation::default(),
        }
    }
}

/// What an answer follows.
#[derive(Debug, Clone)]
pub enum Prompt {
    /// A text as it is, from its beginning: what the session has computed of it is used again. Names of special tokens in it
    /// become these tokens.
    Text(String),
    /// The same as tokens.
    Tokens(Vec<u32>),
    /// A conversation from its beginning, written by the chat template.
    Conversation(Conversation),
    /// Messages that follow those of the session, whose last is an answer: usually one of the user.
    Turn(Vec<Message>),
    /// Nothing: an answer that was cancelled or reached its number of tokens goes on, with the session's sampler.
    Continue,
}

/// Messages, and what the chat template is told besides.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
pub struct Conversation {
    /// The messages, oldest first.
    pub messages: Vec<Message>,
    /// The tools that the model may call.
    pub tools: Vec<Tool>,
    /// Variables of the template, such as `enable_thinking`.
    pub variables: Map<String, Value>,
}

/// What happens when the context is full.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum WhenFull {
    /// The answer ends.
    #[default]
    Stop,
    /// The oldest turns of the conversation are dropped, whole ones, until a quarter of the context is free, or less if the
    /// answer needs less. The system prompt and the last message of the user stay; if there is no more to drop, the answer ends.
    /// What follows the system prompt is computed again. Of a text or tokens, the older half is dropped, but for the
    /// begin-of-sequence token.
    Shift,
}

/// How tokens are guessed. The answer is the same as without, as far as the program's numbers don't depend on how many
/// tokens a call has: guessed tokens are sampled like others, and only those that were guessed right stay.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Speculation {
    /// Not at all.
    #[default]
    None,
    /// From what the text has had before.
    PromptLookup(PromptLookup),
    /// By the draft model, so many at once.
    Draft(usize),
}
