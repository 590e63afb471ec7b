//! Llama 3: JSON or Python calls that are the whole answer.

use super::format::Scan;
use super::{json, python};

const TAG: &str = "<|python_tag|>";

pub(super) fn scan(text: &str, finished: bool) -> Scan {
    let is_tagged = text.starts_with(TAG);
    let inside = text.strip_prefix(TAG).unwrap_or(text);
    let body = inside.trim_start();
    let at = text.len() - body.len();
    let (end, calls) = if body.starts_with('{') {
        match json::balanced_end(body, b"\"") {
            Some(end) => (end, json::calls(&body[..end])),
            None if finished => (body.len(), vec![Err("it breaks off".into())]),
            None => return Scan::More,
        }
    } else if body.starts_with('[') {
        match json::balanced_end(body, b"\"'") {
            Some(end) => (end, python::calls(&body[..end])),
            None if finished => (body.len(), vec![Err("it breaks off".into())]),
            None => return Scan::More,
        }
    } else if finished {
        (body.len(), python::calls(body.trim_end()))
    } else {
        return Scan::More;
    };
    // Any answer may begin with a bracket; only with the tag it was meant as a call.
    if !is_tagged && calls.iter().any(Result::is_err) && !looks_like_a_call(&body[..end]) {
        return Scan::Text(at + end);
    }
    Scan::Calls(at + end, calls)
}

/// Whether it was to be a call, though it did not become one.
fn looks_like_a_call(body: &str) -> bool {
    let inside = body.trim_start_matches(|character: char| character == '{' || character.is_whitespace());
    body.starts_with('{')
        && inside.starts_with("\"name\"")
        && (body.contains("\"parameters\"") || body.contains("\"arguments\""))
}
