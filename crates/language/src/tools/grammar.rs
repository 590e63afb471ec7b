//! Grammars for answers that are calls.

use super::{ToolFormat, ToolSignature};
use crate::constraint::with_bounded_spaces;
use crate::tokenizer::Tokenizer;
use serde_json::{Map, Value, json};

/// Text that does not close a tag.
const TEXT: &str = r"/([^<]|<[^\/])*/";

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
                    (format!("<parameter={key}>\n"), "\n</parameter>\n")
                });
            }
            ToolFormat::Glm => tagged_call(&mut lines, at, tool, (format!("{}\n", tool.name), ""), |key| {
                (format!("<arg_key>{key}</arg_key>\n<arg_value>"), "</arg_value>\n")
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
    tags: impl Fn(&str) -> (String, &'static str),
) {
    let none = Map::new();
    let properties = tool.parameters.get("properties").and_then(Value::as_object).unwrap_or(&none);
    let required = tool.parameters.get("required").and_then(Value::as_array);
    let is_required = |key: &str| required.is_some_and(|keys| keys.iter().any(|required| required == key));
    let mut parts = vec![quoted(&head)];
    for (number, (key, schema)) in properties.iter().enumerate() {
        let (open, close) = tags(key);
        let optional = if is_required(key) { "" } else { "?" };
        parts.push(format!("({} value_{at}_{number} {}){optional}", quoted(&open), quoted(close)));
        lines.push(format!("value_{at}_{number}: {}", value(schema, &tool.parameters)));
    }
    if !tail.is_empty() {
        parts.push(quoted(tail));
    }
    lines.push(format!("call_{at}: {}", parts.join(" ")));
}

/// Text as it is, one of a few words, or JSON.
fn value(schema: &Value, parameters: &Value) -> String {
    if schema.get("type").and_then(Value::as_str) != Some("string") {
        let mut schema = schema.clone();
        for key in ["$defs", "definitions"] {
            if let (Some(members), Some(definitions)) = (schema.as_object_mut(), parameters.get(key)) {
                members.entry(key).or_insert_with(|| definitions.clone());
            }
        }
        return format!("%json {}", with_bounded_spaces(schema));
    }
    let words = schema.get("enum").and_then(Value::as_array);
    let words: Vec<String> = words.into_iter().flatten().filter_map(Value::as_str).map(quoted).collect();
    if words.is_empty() { TEXT.into() } else { format!("({})", words.join(" | ")) }
}

/// A literal of Lark, which escapes as JSON does.
fn quoted(text: &str) -> String {
    json!(text).to_string()
}
