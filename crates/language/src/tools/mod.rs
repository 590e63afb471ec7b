//! Tool calls: found in answers, and forced by a grammar.

mod fenced;
mod format;
mod grammar;
mod json;
mod llama;
mod mistral;
mod parser;
mod python;
mod tagged;

pub use format::ToolFormat;
pub use parser::{ToolEvent, ToolParser};

use crate::{Error, Result};
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

/// A call that a model makes.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ToolCall {
    /// The tool.
    pub name: String,
    /// Its arguments by name.
    pub arguments: Map<String, Value>,
    /// What the answer to it refers to, where the model says.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub id: Option<String>,
}

/// What a tool takes.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ToolSignature {
    /// The tool.
    pub name: String,
    /// A JSON schema of its arguments, which are an object.
    pub parameters: Value,
}

impl ToolSignature {
    /// From the JSON that chat templates take: `{"type": "function", "function": {"name": …, "parameters": …}}`, or the
    /// inner object alone. A tool without `parameters` takes no arguments.
    ///
    /// # Errors
    /// [`Error::Options`] if there is no name, or `parameters` is not an object.
    pub fn from_json(tool: &Value) -> Result<Self> {
        let function = tool.get("function").unwrap_or(tool);
        let name = function.get("name").and_then(Value::as_str).unwrap_or_default();
        if name.is_empty() {
            return Err(Error::Options(format!("the tool {tool} has no name")));
        }
        let none = || serde_json::json!({"type": "object", "properties": {}, "additionalProperties": false});
        let parameters = function.get("parameters").cloned().unwrap_or_else(none);
        if !parameters.is_object() {
            return Err(Error::Options(format!("the parameters of the tool {name} are no JSON schema")));
        }
        Ok(Self { name: name.to_owned(), parameters })
    }

    /// The schema of one argument.
    fn property(&self, name: &str) -> Option<&Value> {
        self.parameters.get("properties")?.get(name)
    }
}
