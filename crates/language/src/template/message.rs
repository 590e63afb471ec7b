//! What a conversation is made of, in the JSON shape that transformers and most servers take.

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value, json};

/// A message of a conversation.
///
/// ```
/// # use nearside_language::Message;
/// let message: Message = serde_json::from_str(r#"{"role": "user", "content": "Hello"}"#).unwrap();
/// assert_eq!(message, Message::user("Hello"));
/// ```
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
pub struct Message {
    /// `system`, `user`, `assistant` or `tool`; some templates know others.
    pub role: String,
    /// The text, or a list of parts such as `{"type": "text", "text": …}`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub content: Option<Value>,
    /// The calls of an assistant's message, each `{"type": "function", "function": {"name": …, "arguments": {…}}}`.
    #[serde(default, deserialize_with = "none_is_empty", skip_serializing_if = "Vec::is_empty")]
    pub tool_calls: Vec<Value>,
    /// The name of the tool that answers.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub name: Option<String>,
    /// The call that a tool answers.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tool_call_id: Option<String>,
    /// Other fields that a template may read, such as `reasoning_content`.
    #[serde(flatten)]
    pub other: Map<String, Value>,
}

impl Message {
    /// A message of `role` that says `content`.
    pub fn new(role: &str, content: &str) -> Self {
        Self { role: role.to_owned(), content: Some(content.into()), ..Self::default() }
    }

    /// Instructions for the whole conversation.
    pub fn system(content: &str) -> Self {
        Self::new("system", content)
    }

    /// What a person says.
    pub fn user(content: &str) -> Self {
        Self::new("user", content)
    }

    /// What the model says.
    pub fn assistant(content: &str) -> Self {
        Self::new("assistant", content)
    }

    /// What the tool `name` answers.
    pub fn tool(name: &str, content: &str) -> Self {
        Self { name: Some(name.to_owned()), ..Self::new("tool", content) }
    }

    /// The message, in which the model also calls the function `name`.
    #[must_use]
    pub fn calling(mut self, name: &str, arguments: &Value) -> Self {
        self.tool_calls.push(json!({"type": "function", "function": {"name": name, "arguments": arguments}}));
        self
    }

    /// What a template sees: no field that is null, and reasoning by its usual names, as transformers does it.
    pub(super) fn prepared(&self) -> Map<String, Value> {
        let mut fields = Map::new();
        fields.insert("role".to_owned(), self.role.clone().into());
        fields.extend(self.content.clone().map(|content| ("content".to_owned(), content)));
        if !self.tool_calls.is_empty() {
            fields.insert("tool_calls".to_owned(), self.tool_calls.clone().into());
        }
        fields.extend(self.name.clone().map(|name| ("name".to_owned(), name.into())));
        fields.extend(self.tool_call_id.clone().map(|id| ("tool_call_id".to_owned(), id.into())));
        fields.extend(self.other.clone());
        fields.retain(|_, value| !value.is_null());
        let Some(reasoning) = REASONING.iter().find_map(|name| fields.get(*name)).cloned() else {
            return fields;
        };
        let thinking = fields.get("thinking").unwrap_or(&reasoning).clone();
        let mut named = Map::from_iter([("thinking".to_owned(), thinking)]);
        named.extend(fields);
        named.insert("reasoning_content".to_owned(), reasoning);
        named
    }
}

/// The names of a message's reasoning, the one that counts first (transformers, `_REASONING_FIELDS`).
const REASONING: [&str; 3] = ["reasoning_content", "thinking", "reasoning"];

fn none_is_empty<'de, D: serde::Deserializer<'de>>(from: D) -> Result<Vec<Value>, D::Error> {
    Ok(Option::deserialize(from)?.unwrap_or_default())
}

/// A function that a model may call: `{"type": "function", "function": {"name", "description", "parameters"}}`, where
/// the parameters are a JSON schema. Anything else that a template understands is possible too.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Tool(pub Value);

impl Tool {
    /// The function `name` with `parameters`, a JSON schema of an object.
    pub fn function(name: &str, description: &str, parameters: &Value) -> Self {
        Self(json!({
            "type": "function",
            "function": {"name": name, "description": description, "parameters": parameters},
        }))
    }
}
