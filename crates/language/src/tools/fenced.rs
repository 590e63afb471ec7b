//! Gemma 3: calls in a fenced block.

use super::format::Scan;
use super::{json, python};

const FENCE: &str = "```";

pub(super) fn scan(text: &str, finished: bool) -> Scan {
    let is_code = text.starts_with("```tool_code");
    let Some(start) = text.find('\n') else {
        return if finished { Scan::Text(text.len()) } else { Scan::More };
    };
    let body = &text[start..];
    let (end, length) = match body.find("\n```") {
        Some(end) => (end, start + end + 1 + FENCE.len()),
        None if finished => (body.len(), text.len()),
        None => return Scan::More,
    };
    let body = body[..end].trim();
    let calls = if body.starts_with('{') || (body.starts_with('[') && !is_code) {
        json::calls(body)
    } else {
        python::calls(body)
    };
    // JSON may be what was asked for.
    if !is_code && calls.iter().any(Result::is_err) { Scan::Text(length) } else { Scan::Calls(length, calls) }
}
