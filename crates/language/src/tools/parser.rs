//! Calls found in an answer while it streams.

use super::format::Scan;
use super::{ToolCall, ToolFormat, ToolSignature};
use serde::Serialize;

/// A part of an answer.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum ToolEvent {
    /// Text outside of calls.
    Text(String),
    /// A call, whole.
    Call(ToolCall),
    /// What was to be a call and is none.
    Malformed {
        /// As the model wrote it, tags and all.
        raw: String,
        /// What is wrong with it.
        reason: String,
    },
}

/// Splits an answer into text and calls.
///
/// Text comes as it streams, but for what may yet begin a call; calls come whole. Nothing is lost: text and
/// [`ToolEvent::Malformed::raw`], with the calls as they were written, are the answer. Whether a tool exists and takes
/// such arguments is for its caller to see.
///
/// ```
/// use nearside_language::{ToolEvent, ToolFormat, ToolParser};
///
/// let mut parser = ToolParser::new(ToolFormat::Hermes, &[]);
/// let mut events = parser.push("One moment. <tool_ca");
/// assert_eq!(events, [ToolEvent::Text("One moment. ".into())]);
/// events = parser.push(r#"ll>{"name": "clock", "arguments": {"zone": "UTC"}}</tool_call>"#);
/// let ToolEvent::Call(call) = &events[0] else { panic!() };
/// assert_eq!((call.name.as_str(), &call.arguments["zone"]), ("clock", &"UTC".into()));
/// assert!(parser.finish().is_empty());
/// ```
#[derive(Debug, Clone)]
pub struct ToolParser {
    format: ToolFormat,
    tools: Vec<ToolSignature>,
    /// What has not become an event yet.
    pending: String,
    /// Whether `pending` begins a call.
    inside: bool,
    /// Whether text came that makes it too late for a bare call.
    begun: bool,
}

/// Bytes from which on a call is long.
const LONG_BYTES: usize = 4 << 10;

/// Bytes of a call. Longer ones are malformed.
const MAX_CALL_BYTES: usize = 1 << 20;

impl ToolParser {
    /// For answers in `format`. `tools` tell which arguments are text, in the formats that write it without quotes; it
    /// may be empty.
    pub fn new(format: ToolFormat, tools: &[ToolSignature]) -> Self {
        Self { format, tools: tools.to_vec(), pending: String::new(), inside: false, begun: false }
    }

    /// Adds a piece of the answer.
    pub fn push(&mut self, text: &str) -> Vec<ToolEvent> {
        self.pending.push_str(text);
        // What ends a call has one of these in it; long arguments are not read again for each token of theirs.
        let ends = text.contains(['}', ']', ')', '>', '`', '\n']);
        if self.inside && !ends && (LONG_BYTES..=MAX_CALL_BYTES).contains(&self.pending.len()) {
            return Vec::new();
        }
        self.events(false)
    }

    /// The answer has ended: what was held back. Then the parser is as new, for another answer.
    pub fn finish(&mut self) -> Vec<ToolEvent> {
        let events = self.events(true);
        self.inside = false;
        self.begun = false;
        events
    }

    fn events(&mut self, finished: bool) -> Vec<ToolEvent> {
        let mut events = Vec::new();
        while !self.pending.is_empty() {
            let goes_on =
                if self.inside { self.call(finished, &mut events) } else { self.text(finished, &mut events) };
            if !goes_on {
                break;
            }
        }
        events
    }

    /// Gives the text up to where a call begins; false if more text is needed.
    fn text(&mut self, finished: bool, events: &mut Vec<ToolEvent>) -> bool {
        if let Some(at) = self.bare_start() {
            // Between calls of one answer stands `;`.
            self.pending.drain(..at);
            self.inside = true;
            return true;
        }
        let openings = self.format.openings();
        let found = openings.iter().filter_map(|opening| self.pending.find(opening)).min();
        let end = match found {
            Some(at) => at,
            None if finished => self.pending.len(),
            None => self.pending.len() - self.held(openings),
        };
        self.give_text(end, events);
        self.inside = found.is_some();
        self.inside
    }

    /// Where a call without an announcement begins, which only spaces and `;` may precede.
    fn bare_start(&self) -> Option<usize> {
        if self.begun || !self.format.may_be_bare() {
            return None;
        }
        let at = self.pending.find(|character: char| !character.is_whitespace() && character != ';')?;
        self.pending[at..].starts_with(['{', '[']).then_some(at)
    }

    /// Bytes at the end that may become the beginning of a call.
    fn held(&self, openings: &[&str]) -> usize {
        let is_blank =
            |text: &str| text.chars().all(|character| character.is_whitespace() || character == ';');
        if self.format.may_be_bare() && !self.begun && is_blank(&self.pending) {
            return self.pending.len();
        }
        let begins = |end: &str| openings.iter().any(|opening| opening.starts_with(end));
        let ends = self.pending.char_indices().map(|(at, _)| &self.pending[at..]);
        let longest = openings.iter().map(|opening| opening.len()).max().unwrap_or(0);
        let mut ends = ends.filter(|end| end.len() < longest);
        ends.find(|end| begins(end)).map_or(0, str::len)
    }

    /// Gives the calls that `pending` begins with; false if more text is needed.
    fn call(&mut self, finished: bool, events: &mut Vec<ToolEvent>) -> bool {
        match self.format.scan(&self.pending, &self.tools, finished) {
            Scan::More if self.pending.len() > MAX_CALL_BYTES => {
                let raw = std::mem::take(&mut self.pending);
                let reason = format!("it is longer than {MAX_CALL_BYTES} bytes");
                events.push(ToolEvent::Malformed { raw, reason });
                self.inside = false;
                false
            }
            Scan::More => false,
            Scan::Text(length) => {
                self.begun = true;
                self.give_text(length, events);
                self.inside = false;
                true
            }
            Scan::Calls(length, calls) => {
                let raw: String = self.pending.drain(..length).collect();
                for call in calls {
                    events.push(match call {
                        Ok(call) => ToolEvent::Call(call),
                        Err(reason) => ToolEvent::Malformed { raw: raw.clone(), reason },
                    });
                }
                self.inside = false;
                true
            }
        }
    }

    fn give_text(&mut self, length: usize, events: &mut Vec<ToolEvent>) {
        if length == 0 {
            return;
        }
        let text: String = self.pending.drain(..length).collect();
        self.begun |= !text.trim().is_empty();
        match events.last_mut() {
            Some(ToolEvent::Text(last)) => last.push_str(&text),
            _ => events.push(ToolEvent::Text(text)),
        }
    }
}
