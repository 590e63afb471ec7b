//! Calls as JSON.

use super::ToolCall;
use serde_json::{Map, Value};

/// Where the brackets that `text` begins with are closed, those in strings left out of account.
pub(super) fn balanced_end(text: &str, quotes: &[u8]) -> Option<usize> {
    let mut depth = 0_usize;
    let mut within: Option<u8> = None;
    let mut escaped = false;
    for (at, byte) in text.bytes().enumerate() {
        match within {
            Some(_) if escaped => escaped = false,
            Some(_) if byte == b'\\' => escaped = true,
            Some(quote) => within = (byte != quote).then_some(quote),
            None if quotes.contains(&byte) => within = Some(byte),
            None if matches!(byte, b'{' | b'[' | b'(') => depth += 1,
            None if matches!(byte, b'}' | b']' | b')') => {
                depth = depth.saturating_sub(1);
                if depth == 0 {
                    return Some(at + 1);
                }
            }
            None => {}
        }
    }
    None
}

/// The first `marker` that is not in a string.
pub(super) fn find_outside_strings(text: &str, marker: &str) -> Option<usize> {
    let mut from = 0;
    while let Some(found) = text[from..].find(marker).map(|at| from + at) {
        if !ends_in_string(&text[..found]) {
            return Some(found);
        }
        from = found + marker.len();
    }
    None
}

fn ends_in_string(text: &str) -> bool {
    let mut within = false;
    let mut escaped = false;
    for byte in text.bytes() {
        match byte {
            _ if escaped => escaped = false,
            b'\\' if within => escaped = true,
            b'"' => within = !within,
            _ => {}
        }
    }
    within
}

/// The call, or the calls of a list.
pub(super) fn calls(text: &str) -> Vec<Result<ToolCall, String>> {
    match serde_json::from_str::<Value>(text) {
        Err(error) => vec![Err(format!("it is not JSON: {error}"))],
        Ok(Value::Array(items)) if items.is_empty() => vec![Err("the list of calls is empty".into())],
        Ok(Value::Array(items)) => items.into_iter().map(call).collect(),
        Ok(value) => vec![call(value)],
    }
}

/// From `{"name": …, "arguments" or "parameters": …, "id": …}`, or the same within `"function"` as OpenAI has it.
/// Arguments may be a string with JSON in it.
pub(super) fn call(value: Value) -> Result<ToolCall, String> {
    let Value::Object(mut members) = value else {
        return Err("it is no JSON object".into());
    };
    let id = ["id", "tool_call_id"].iter().find_map(|key| members.get(*key)?.as_str().map(str::to_owned));
    if let Some(Value::Object(function)) = members.get_mut("function") {
        members = std::mem::take(function);
    }
    let name = match members.get("name").and_then(Value::as_str) {
        Some(name) if !name.is_empty() => name.to_owned(),
        _ => return Err("it has no `name`".into()),
    };
    let given = members.remove("arguments").or_else(|| members.remove("parameters"));
    Ok(ToolCall { name, arguments: arguments(given.unwrap_or_default())?, id })
}

/// Arguments by name; none for null, and what a string holds.
pub(super) fn arguments(value: Value) -> Result<Map<String, Value>, String> {
    match value {
        Value::Object(members) => Ok(members),
        Value::Null => Ok(Map::new()),
        Value::String(text) => match serde_json::from_str(&text) {
            Ok(Value::Object(members)) => Ok(members),
            Ok(_) => Err("its arguments are a string without an object in it".into()),
            Err(error) => Err(format!("its arguments are a string that is not JSON: {error}")),
        },
        _ => Err("its arguments are no object".into()),
    }
}
