//! How model families write calls.

use super::{ToolSignature, fenced, grammar, llama, mistral, tagged};
use crate::constraint::Grammar;
use crate::tokenizer::Tokenizer;
use crate::{Error, Result};
use serde::{Deserialize, Serialize};

/// How a model writes its tool calls.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum ToolFormat {
    /// Hermes, Qwen 2.5 and 3, SmolLM2 and 3: `<tool_call>{"name": …, "arguments": {…}}</tool_call>`.
    Hermes,
    /// Qwen3-Coder: `<tool_call><function=NAME><parameter=KEY>VALUE</parameter></function></tool_call>`.
    QwenCoder,
    /// GLM 4.5: `<tool_call>NAME<arg_key>KEY</arg_key><arg_value>VALUE</arg_value></tool_call>`.
    Glm,
    /// Llama 3: an answer that is `{"name": …, "parameters": {…}}`, several with `;` between, or `[name(key=value)]`,
    /// after `<|python_tag|>` or not.
    Llama,
    /// Mistral: `[TOOL_CALLS][{"name": …, "arguments": {…}}]`, or `[TOOL_CALLS]NAME[ARGS]{…}` of later ones.
    Mistral,
    /// Gemma 3: Python calls or JSON in a block fenced by `` ```tool_code ``, or in one of `` ```json ``, or an answer that
    /// is `{"name": …, "parameters": {…}}`.
    Gemma,
}

/// What a format makes of text that begins with one of its openings.
pub(super) enum Scan {
    /// Its end has not come yet.
    More,
    /// So many bytes are calls; some may be malformed, with the reason.
    Calls(usize, Vec<std::result::Result<super::ToolCall, String>>),
    /// So many bytes only began like a call.
    Text(usize),
}

impl ToolFormat {
    /// The format in which the Jinja source of a chat template shows calls; `None` if it shows none.
    pub fn of_template(template: &str) -> Option<Self> {
        let has = |text: &str| template.contains(text);
        if has("<function=") {
            Some(Self::QwenCoder)
        } else if has("<arg_key>") {
            Some(Self::Glm)
        } else if has("<tool_call>") {
            Some(Self::Hermes)
        } else if has("[TOOL_CALLS]") {
            Some(Self::Mistral)
        } else if has("<|python_tag|>") || has("<|start_header_id|>") && has("tools") {
            Some(Self::Llama)
        } else if has("<start_of_turn>") {
            Some(Self::Gemma)
        } else {
            None
        }
    }

    /// Special tokens that begin or end calls: [`StreamOptions::show`](crate::StreamOptions::show) them, or the parser
    /// won't see them.
    pub fn special_tokens(self, tokenizer: &Tokenizer) -> Vec<u32> {
        let names: &[&str] = match self {
            Self::Hermes | Self::QwenCoder => &["<tool_call>", "</tool_call>"],
            Self::Glm => {
                &["<tool_call>", "</tool_call>", "<arg_key>", "</arg_key>", "<arg_value>", "</arg_value>"]
            }
            Self::Llama => &["<|python_tag|>"],
            Self::Mistral => &["[TOOL_CALLS]", "[ARGS]", "[CALL_ID]"],
            Self::Gemma => &[],
        };
        let ids = names.iter().filter_map(|name| tokenizer.id_of(name));
        ids.filter(|&id| tokenizer.is_special(id)).collect()
    }

    /// A grammar for answers that are one or more valid calls of `tools` and nothing else, as the model writes them.
    ///
    /// # Errors
    /// [`Error::Options`] if there is no tool, or a name can't stand in the format.
    pub fn grammar(self, tools: &[ToolSignature], tokenizer: &Tokenizer) -> Result<Grammar> {
        if tools.is_empty() {
            return Err(Error::Options("a call can't be forced where there is no tool".into()));
        }
        let is_plain = |character: char| character.is_alphanumeric() || "_-.".contains(character);
        if let Some(tool) = tools.iter().find(|tool| tool.name.is_empty() || !tool.name.chars().all(is_plain))
        {
            return Err(Error::Options(format!(
                "a tool can't have the name `{}`: letters, digits, `_`, `-` and `.` are possible",
                tool.name
            )));
        }
        Ok(Grammar::Lark(grammar::lark(self, tools, tokenizer)))
    }

    /// What calls begin with.
    pub(super) fn openings(self) -> &'static [&'static str] {
        match self {
            Self::Hermes | Self::Glm => &["<tool_call>"],
            Self::QwenCoder => &["<tool_call>", "<function="],
            Self::Llama => &["<|python_tag|>"],
            Self::Mistral => &["[TOOL_CALLS]"],
            Self::Gemma => &["```tool_code", "```json"],
        }
    }

    /// Whether an answer may be a call from its first character on, without anything that announces it.
    pub(super) fn may_be_bare(self) -> bool {
        matches!(self, Self::Llama | Self::Gemma)
    }

    /// Looks for the end of what began with an opening, or is bare; `finished` if no more text will come.
    pub(super) fn scan(self, text: &str, tools: &[ToolSignature], finished: bool) -> Scan {
        match self {
            Self::Hermes | Self::QwenCoder | Self::Glm => tagged::scan(text, tools, finished),
            Self::Llama => llama::scan(text, finished),
            Self::Mistral => mistral::scan(text, finished),
            Self::Gemma if text.starts_with("```") => fenced::scan(text, finished),
            Self::Gemma => llama::scan(text, finished),
        }
    }
}
