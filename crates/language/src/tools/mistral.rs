//! Mistral: `[TOOL_CALLS]`, then a list, or a name with its arguments.

use super::format::Scan;
use super::{ToolCall, json};

const OPEN: &str = "[TOOL_CALLS]";
const ARGUMENTS: &str = "[ARGS]";
const ID: &str = "[CALL_ID]";

pub(super) fn scan(text: &str, finished: bool) -> Scan {
    let inside = text.strip_prefix(OPEN).unwrap_or(text);
    let body = inside.trim_start();
    let at = text.len() - body.len();
    let breaks_off = || Scan::Calls(text.len(), vec![Err("it breaks off".into())]);
    let start = if body.starts_with('[') { Some(0) } else { body.find('{') };
    // What stands before the arguments is a name; a line without any is not.
    let line = body.find('\n').unwrap_or(usize::MAX);
    match start {
        Some(start) if start < line => match json::balanced_end(&body[start..], b"\"") {
            Some(length) => {
                let end = start + length;
                let calls = match start {
                    0 => json::calls(&body[..end]),
                    _ => vec![named(&body[..start], &body[start..end])],
                };
                Scan::Calls(at + end, calls)
            }
            None if finished => breaks_off(),
            None => Scan::More,
        },
        _ if line < usize::MAX => Scan::Calls(at + line, vec![Err("it has no arguments".into())]),
        _ if finished => breaks_off(),
        _ => Scan::More,
    }
}

fn named(head: &str, arguments: &str) -> Result<ToolCall, String> {
    let head = head.trim().trim_end_matches(ARGUMENTS);
    let (name, id) =
        head.split_once(ID).map_or((head, None), |(name, id)| (name, Some(id.trim().to_owned())));
    let name = name.trim();
    if name.is_empty() || name.contains(char::is_whitespace) {
        return Err("it has no name".into());
    }
    let value =
        serde_json::from_str(arguments).map_err(|error| format!("its arguments are not JSON: {error}"))?;
    Ok(ToolCall { name: name.to_owned(), arguments: json::arguments(value)?, id })
}
