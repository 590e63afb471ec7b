//! Grammars for answers that are calls.

use super::{ToolFormat, ToolSignature};
use crate::constraint::with_bounded_spaces;
use crate::tokenizer::Tokenizer;
use serde_json::{Map, Value, json};

/// llguidance's Lark for one or more calls.
pub(super) fn lark(format: ToolFormat, tools: &[ToolSignature], tokenizer: &Tokenizer) -> String {
    let names: Vec<String> = (0..tools.len()).map(|at| format!("call_{at}")).collect();
    let mut lines = vec![start(format, tokenizer), format!("call: {}", names.join(" | "))];
    for (at, tool) in tools.iter().enumerate() {
        match format {
            ToolFormat::Hermes | ToolFormat::Mistral => json_call(&mut lines, at, tool, "arguments"),
            ToolFormat::Llama | ToolFormat::Gemma => json_call(&mut lines, at, tool, "parameters"),
            ToolFormat::QwenCoder => {
                let around = (format!("<function={}>\n", tool.name), "</function>");
                tagged_call(&mut lines, at, tool, around, |key| {
                    (format!("<parameter={key}>\n"), ["\n", "</parameter>", "\n"])
                });
            }
            ToolFormat::Glm => tagged_call(&mut lines, at, tool, (format!("{}\n", tool.name), ""), |key| {
                (format!("<arg_key>{key}</arg_key>\n<arg_value>"), ["", "</arg_value>", "\n"])
            }),
        }
    }
    lines.join("\n") + "\n"
}

fn start(format: ToolFormat, tokenizer: &Tokenizer) -> String {
    let marker = |text: &str| match tokenizer.id_of(text).filter(|&id| tokenizer.is_special(id)) {
        Some(id) => format!("<[{id}]>"),
        None => quoted(text),
    };
    let (open, close) = (marker("<tool_call>"), marker("</tool_call>"));
    match format {
        ToolFormat::Hermes | ToolFormat::QwenCoder => {
            format!("start: block (\"\\n\" block)*\nblock: {open} \"\\n\" call \"\\n\" {close}")
        }
        ToolFormat::Glm => format!("start: block (\"\\n\" block)*\nblock: {open} call {close}"),
        ToolFormat::Llama | ToolFormat::Gemma => "start: call (\"; \" call)*".into(),
        ToolFormat::Mistral => {
            format!("start: {} \"[\" call (\", \" call)* \"]\"", marker("[TOOL_CALLS]"))
        }
    }
}

/// A schema of its own for each tool's arguments, so that its references stay within it.
fn json_call(lines: &mut Vec<String>, at: usize, tool: &ToolSignature, arguments: &str) {
    let name = json!(tool.name);
    let head = quoted(&format!("{{\"name\": {name}, \"{arguments}\": "));
    lines.push(format!("call_{at}: {head} arguments_{at} \"}}\""));
    lines.push(format!("arguments_{at}: %json {}", with_bounded_spaces(tool.parameters.clone())));
}

/// The arguments in the order of the schema, those that are not required if the model likes.
fn tagged_call(
    lines: &mut Vec<String>,
    at: usize,
    tool: &ToolSignature,
    (head, tail): (String, &str),
    tags: impl Fn(&str) -> (String, [&'static str; 3]),
) {
    let none = Map::new();
    let properties = tool.parameters.get("properties").and_then(Value::as_object).unwrap_or(&none);
    let required = tool.parameters.get("required").and_then(Value::as_array);
    let is_required = |key: &str| required.is_some_and(|keys| keys.iter().any(|required| required == key));
    let mut parts = vec![quoted(&head)];
    for (number, (key, schema)) in properties.iter().enumerate() {
        let (open, [before, close, after]) = tags(key);
        let optional = if is_required(key) { "" } else { "?" };
        let (open, after) = (quoted(&open), quoted(after));
        let value_name = format!("value_{at}_{number}");
        if is_text(schema) {
            // As short as it can be, so that it ends with the first closing tag, which is its last part.
            parts.push(format!("({open} {value_name} {after}){optional}"));
            lines.push(format!("{value_name}[suffix={}]: /(?s:.*)/", quoted(close)));
        } else {
            let close = quoted(&format!("{before}{close}"));
            parts.push(format!("({open} {value_name} {close} {after}){optional}"));
            lines.push(format!("{value_name}: {}", value(schema, &tool.parameters)));
        }
    }
    if !tail.is_empty() {
        parts.push(quoted(tail));
    }
    lines.push(format!("call_{at}: {}", parts.join(" ")));
}

/// Whether a value is text as it is, of any kind.
fn is_text(schema: &Value) -> bool {
    is_string(schema) && schema.get("enum").is_none()
}

fn is_string(schema: &Value) -> bool {
    schema.get("type").and_then(Value::as_str) == Some("string")
}

/// One of a few words, or JSON.
fn value(schema: &Value, parameters: &Value) -> String {
    let words = schema.get("enum").and_then(Value::as_array).filter(|_| is_string(schema));
    if let Some(words) = words {
        let words: Vec<String> = words.iter().filter_map(Value::as_str).map(quoted).collect();
        return format!("({})", words.join(" | "));
    }
    let mut schema = schema.clone();
    for key in ["$defs", "definitions"] {
        if let (Some(members), Some(definitions)) = (schema.as_object_mut(), parameters.get(key)) {
            members.entry(key).or_insert_with(|| definitions.clone());
        }
    }
    format!("%json {}", with_bounded_spaces(schema))
}

/// A literal of Lark, which escapes as JSON does.
fn quoted(text: &str) -> String {
    json!(text).to_string()
}
