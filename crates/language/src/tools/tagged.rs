//! `<tool_call>…</tool_call>`, with JSON (Hermes, Qwen), functions and parameters (Qwen3-Coder) or keys and values (GLM).

use super::format::Scan;
use super::{ToolCall, ToolSignature, json};
use serde_json::{Map, Value};

const OPEN: &str = "<tool_call>";
const CLOSE: &str = "</tool_call>";
const FUNCTION: &str = "<function=";
const FUNCTION_END: &str = "</function>";

pub(super) fn scan(text: &str, tools: &[ToolSignature], finished: bool) -> Scan {
    let inside = text.strip_prefix(OPEN).unwrap_or(text);
    let body = inside.trim_start();
    let at = text.len() - body.len();
    if !finished && FUNCTION.starts_with(body) {
        return Scan::More;
    }
    if body.starts_with(['{', '[']) {
        return scan_json(text, at, finished);
    }
    let (end, close) = if body.starts_with(FUNCTION) { (FUNCTION_END, true) } else { (CLOSE, false) };
    let parse = |body: &str| if close { function(body, tools) } else { keys_and_values(body, tools) };
    match body.find(end) {
        Some(found) => {
            let length = at + found + end.len();
            let call = parse(&body[..found]);
            if close { closed(text, length, vec![call], finished) } else { Scan::Calls(length, vec![call]) }
        }
        None if finished => Scan::Calls(text.len(), vec![Err("it breaks off".into())]),
        None => Scan::More,
    }
}

fn scan_json(text: &str, at: usize, finished: bool) -> Scan {
    let body = &text[at..];
    let end = json::balanced_end(body, b"\"");
    match (end, json::find_outside_strings(&body[..end.unwrap_or(body.len())], CLOSE)) {
        (_, Some(close)) => Scan::Calls(at + close + CLOSE.len(), json::calls(body[..close].trim_end())),
        (Some(end), None) => closed(text, at + end, json::calls(&body[..end]), finished),
        (None, None) if finished => Scan::Calls(text.len(), vec![Err("it breaks off".into())]),
        (None, None) => Scan::More,
    }
}

/// With the closing tag after it; some models end the answer without one.
fn closed(text: &str, length: usize, calls: Vec<Result<ToolCall, String>>, finished: bool) -> Scan {
    if calls.iter().any(Result::is_err) {
        return match text[length..].find(CLOSE) {
            Some(close) => Scan::Calls(length + close + CLOSE.len(), calls),
            None if finished => Scan::Calls(text.len(), calls),
            None => Scan::More,
        };
    }
    let rest = text[length..].trim_start();
    if rest.starts_with(CLOSE) {
        Scan::Calls(text.len() - rest.len() + CLOSE.len(), calls)
    } else if CLOSE.starts_with(rest) && !finished {
        Scan::More
    } else {
        Scan::Calls(length, calls)
    }
}

/// `<function=NAME>`, then `<parameter=KEY>VALUE</parameter>` for each.
fn function(body: &str, tools: &[ToolSignature]) -> Result<ToolCall, String> {
    let (name, mut rest) =
        body[FUNCTION.len()..].split_once('>').ok_or("the name of the function does not end")?;
    let tool = tools.iter().find(|tool| tool.name == name.trim());
    let mut arguments = Map::new();
    while let Some((_, parameter)) = rest.split_once("<parameter=") {
        let (key, after) = parameter.split_once('>').ok_or("the name of a parameter does not end")?;
        let (value, after) = after.split_once("</parameter>").ok_or("a parameter does not end")?;
        let value = value.strip_prefix('\n').unwrap_or(value);
        let value = value.strip_suffix('\n').unwrap_or(value);
        arguments.insert(key.trim().to_owned(), typed(value, tool, key.trim()));
        rest = after;
    }
    named(name, arguments)
}

/// The name, then `<arg_key>KEY</arg_key>` and `<arg_value>VALUE</arg_value>` for each.
fn keys_and_values(body: &str, tools: &[ToolSignature]) -> Result<ToolCall, String> {
    let (name, mut rest) = body.find("<arg_key>").map_or((body, ""), |at| body.split_at(at));
    let tool = tools.iter().find(|tool| tool.name == name.trim());
    let mut arguments = Map::new();
    while let Some((_, after)) = rest.split_once("<arg_key>") {
        let (key, after) = after.split_once("</arg_key>").ok_or("a key does not end")?;
        let (_, after) = after.split_once("<arg_value>").ok_or("a key has no value")?;
        let (value, after) = after.split_once("</arg_value>").ok_or("a value does not end")?;
        arguments.insert(key.trim().to_owned(), typed(value, tool, key.trim()));
        rest = after;
    }
    named(name, arguments)
}

fn named(name: &str, arguments: Map<String, Value>) -> Result<ToolCall, String> {
    let name = name.trim();
    if name.is_empty() || name.contains(char::is_whitespace) {
        return Err("it has no name".into());
    }
    Ok(ToolCall { name: name.to_owned(), arguments, id: None })
}

/// A value written without quotes: text where the tool's schema says so, else what JSON makes of it, else text.
fn typed(text: &str, tool: Option<&ToolSignature>, key: &str) -> Value {
    let kinds: Vec<&str> =
        match tool.and_then(|tool| tool.property(key)).and_then(|schema| schema.get("type")) {
            Some(Value::String(kind)) => vec![kind],
            Some(Value::Array(kinds)) => kinds.iter().filter_map(Value::as_str).collect(),
            _ => Vec::new(),
        };
    let as_text = || Value::String(text.to_owned());
    if kinds == ["string"] {
        return as_text();
    }
    let parsed = match text.trim() {
        "True" => Ok(Value::Bool(true)),
        "False" => Ok(Value::Bool(false)),
        "None" => Ok(Value::Null),
        text => serde_json::from_str(text),
    };
    parsed.unwrap_or_else(|_| as_text())
}
