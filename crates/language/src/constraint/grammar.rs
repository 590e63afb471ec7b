//! What an answer must look like.

use crate::{Error, Result};
use llguidance::api::TopLevelGrammar;
use serde::{Deserialize, Serialize};
use serde_json::Value;

/// A language that an answer must belong to, as a whole.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum Grammar {
    /// JSON that a [JSON Schema](https://json-schema.org) accepts. Where the schema's own `x-guidance` does not say
    /// otherwise, up to 32 spaces, tabs or line breaks may stand between its parts: with no bound, small models go on
    /// with spaces for ever. What of JSON Schema can't be held to is refused, not ignored.
    JsonSchema(Value),
    /// A regular expression in the syntax of the crate `regex`, without anchors: it matches the whole answer.
    Regex(String),
    /// A context-free grammar in llguidance's variant of Lark, with the rule `start`.
    Lark(String),
}

/// Bytes of a grammar's text. Far above what a person writes, and what the compiler takes in a second.
const MAX_BYTES: usize = 256 << 10;

/// Brackets within brackets. Compilers go down into them, and stacks end.
const MAX_DEPTH: usize = 100;

/// References in a JSON schema, each of which may lead the compiler a level further down.
const MAX_REFERENCES: usize = 1_000;

impl Grammar {
    /// As llguidance has it.
    ///
    /// # Errors
    /// [`Error::Grammar`] if it is too long or nests too deeply.
    pub(super) fn to_llguidance(&self) -> Result<TopLevelGrammar> {
        match self {
            Self::JsonSchema(schema) => {
                if !is_shallower(schema, MAX_DEPTH) {
                    return Err(too_deep());
                }
                check_length(schema.to_string().len())?;
                let references = references(schema);
                if references > MAX_REFERENCES {
                    let reason =
                        format!("it has {references} of `$ref`: up to {MAX_REFERENCES} are possible");
                    return Err(Error::Grammar { reason });
                }
                Ok(TopLevelGrammar::from_json_schema(with_bounded_spaces(schema.clone())))
            }
            Self::Regex(regex) => {
                check_text(regex)?;
                Ok(TopLevelGrammar::from_regex(regex))
            }
            Self::Lark(lark) => {
                check_text(lark)?;
                Ok(TopLevelGrammar::from_lark(lark.clone()))
            }
        }
    }
}

/// llguidance reads `x-guidance` of the schema itself.
pub(crate) fn with_bounded_spaces(mut schema: Value) -> Value {
    if schema == Value::Bool(true) {
        schema = serde_json::json!({});
    }
    if let Value::Object(members) = &mut schema {
        members
            .entry("x-guidance")
            .or_insert_with(|| serde_json::json!({ "whitespace_pattern": r"[\x20\x0A\x0D\x09]{1,32}" }));
    }
    schema
}

fn check_text(text: &str) -> Result<()> {
    check_length(text.len())?;
    let mut depth = 0_usize;
    for byte in text.bytes() {
        match byte {
            b'(' | b'[' | b'{' => depth += 1,
            b')' | b']' | b'}' => depth = depth.saturating_sub(1),
            _ => {}
        }
        if depth > MAX_DEPTH {
            return Err(too_deep());
        }
    }
    Ok(())
}

fn check_length(bytes: usize) -> Result<()> {
    if bytes <= MAX_BYTES {
        return Ok(());
    }
    Err(Error::Grammar { reason: format!("it has {bytes} bytes: up to {MAX_BYTES} are possible") })
}

fn too_deep() -> Error {
    Error::Grammar { reason: format!("it nests more than {MAX_DEPTH} levels deep") }
}

/// Whether a value nests no deeper than `levels`.
fn is_shallower(value: &Value, levels: usize) -> bool {
    match value {
        Value::Array(items) => levels > 0 && items.iter().all(|item| is_shallower(item, levels - 1)),
        Value::Object(members) => levels > 0 && members.values().all(|item| is_shallower(item, levels - 1)),
        _ => true,
    }
}

fn references(value: &Value) -> usize {
    match value {
        Value::Array(items) => items.iter().map(references).sum(),
        Value::Object(members) => {
            usize::from(members.contains_key("$ref")) + members.values().map(references).sum::<usize>()
        }
        _ => 0,
    }
}
