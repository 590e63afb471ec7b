//! What a conversation is made of.

use nearside_pipeline::language;
use serde_json::{Value, json};

use super::json;
use crate::Result;

/// A message of a conversation.
#[derive(Clone, Debug, PartialEq, uniffi::Record)]
pub struct ChatMessage {
    /// `system`, `user`, `assistant` or `tool`; some chat templates know others.
    pub role: String,
    /// The text.
    #[uniffi(default = None)]
    pub content: Option<String>,
    /// The calls of an assistant's message.
    #[uniffi(default = [])]
    pub tool_calls: Vec<ToolCall>,
    /// The name of the tool that answers.
    #[uniffi(default = None)]
    pub name: Option<String>,
    /// The call that a tool answers.
    #[uniffi(default = None)]
    pub tool_call_id: Option<String>,
}

/// A call of a tool in a message.
#[derive(Clone, Debug, PartialEq, uniffi::Record)]
pub struct ToolCall {
    /// The tool.
    pub name: String,
    /// Its arguments, a JSON object.
    pub arguments: String,
    /// What the answer to it refers to.
    #[uniffi(default = None)]
    pub id: Option<String>,
}

/// A tool that the model may call.
#[derive(Clone, Debug, PartialEq, uniffi::Record)]
pub struct ToolDefinition {
    /// Its name.
    pub name: String,
    /// What it does.
    pub description: String,
    /// Its arguments: a JSON schema of an object.
    pub parameters: String,
}

impl TryFrom<ChatMessage> for language::Message {
    type Error = crate::NearsideError;

    fn try_from(message: ChatMessage) -> Result<Self> {
        let calls = message.tool_calls.into_iter().map(|call| {
            let arguments: Value = json("the arguments of a call", &call.arguments)?;
            let mut value =
                json!({"type": "function", "function": {"name": call.name, "arguments": arguments}});
            if let Some(id) = call.id {
                value["id"] = id.into();
            }
            Ok(value)
        });
        Ok(Self {
            role: message.role,
            content: message.content.map(Value::String),
            tool_calls: calls.collect::<Result<_>>()?,
            name: message.name,
            tool_call_id: message.tool_call_id,
            ..Self::default()
        })
    }
}

impl From<language::Message> for ChatMessage {
    fn from(message: language::Message) -> Self {
        let text = |value: &Value| value.as_str().map_or_else(|| value.to_string(), str::to_owned);
        let calls = message.tool_calls.iter().map(|call| ToolCall {
            name: text(&call["function"]["name"]),
            arguments: call["function"]["arguments"].to_string(),
            id: call["id"].as_str().map(str::to_owned),
        });
        Self {
            role: message.role,
            content: message.content.as_ref().map(text),
            tool_calls: calls.collect(),
            name: message.name,
            tool_call_id: message.tool_call_id,
        }
    }
}

impl TryFrom<ToolDefinition> for language::Tool {
    type Error = crate::NearsideError;

    fn try_from(tool: ToolDefinition) -> Result<Self> {
        let parameters: Value = json("the parameters of a tool", &tool.parameters)?;
        Ok(Self::function(&tool.name, &tool.description, &parameters))
    }
}
