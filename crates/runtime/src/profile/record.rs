//! From the tracer's raw events to named ones.

use super::plan::{Call, Plan};
use super::{Event, EventKind};
use crate::bridge::ffi::{self, TraceEvent, TraceKind};

/// What a method that was loaded for profiling knows of itself.
pub(crate) struct Tracing {
    pub(super) plan: Plan,
    pub(super) load: Vec<Event>,
}

impl Tracing {
    /// `method` has just been loaded and has recorded that.
    pub(crate) fn new(plan: Plan, method: &ffi::Method) -> Self {
        let mut tracing = Self { plan, load: Vec::new() };
        tracing.load = tracing.load_events(method);
        tracing
    }

    /// What the tracer of `method` recorded of a run.
    pub(super) fn events(&self, method: &ffi::Method) -> Vec<Event> {
        let text = method.trace_text();
        method.trace_events().iter().filter_map(|event| self.event(event, text)).collect()
    }

    /// As [`Self::events`], for a load.
    fn load_events(&self, method: &ffi::Method) -> Vec<Event> {
        let (raw, text) = (method.trace_events(), method.trace_text());
        let loaded = raw.iter().map(|event| event.end_ns).max().unwrap_or(0);
        let mut events = Vec::with_capacity(raw.len());
        let mut part = 0;
        for (at, event) in raw.iter().enumerate() {
            let mut event = *event;
            if event.kind != TraceKind::DelegateInit {
                events.extend(self.event(&event, text));
                continue;
            }
            // A delegate that keeps its payload does not say when it is ready: it is when the next one starts.
            if event.end_ns == 0 {
                let next = raw[at + 1..].iter().find(|next| next.kind == TraceKind::DelegateInit);
                event.end_ns = next.map_or(loaded, |next| next.start_ns);
            }
            // Delegates are initialised in the file's order; those whose payload is not a segment are not seen.
            let is_this =
                |delegate: &super::plan::Delegate| i64::try_from(delegate.payload_at) == Ok(event.detail);
            let found = self.plan.delegates[part..].iter().position(is_this).map(|skipped| part + skipped);
            part = found.map_or(part, |found| found + 1);
            events.extend(self.event(&event, text).map(|event| Event { delegate: found, ..event }));
        }
        events
    }

    /// `None` for an event whose end was not told.
    fn event(&self, raw: &TraceEvent, text: &[u8]) -> Option<Event> {
        let duration_ns = raw.end_ns.checked_sub(raw.start_ns).filter(|_| raw.end_ns > 0)?;
        let instruction = usize::try_from(raw.instruction).ok().filter(|&at| at < self.plan.calls.len());
        let call = instruction.map(|at| &self.plan.calls[at]);
        let delegate = match call {
            Some(Call::Delegate(part)) => Some(*part),
            _ => None,
        };
        let told = text.get(raw.name_at..raw.name_at + raw.name_bytes).unwrap_or_default();
        let told = String::from_utf8_lossy(told).into_owned();
        let called = match call {
            Some(Call::Operator(name)) => name.clone(),
            Some(Call::Delegate(part)) => self.plan.delegates[*part].id.clone(),
            Some(Call::Control(name)) => (*name).to_owned(),
            None => String::new(),
        };
        let debug_id = (raw.kind == TraceKind::Inner && raw.detail >= 0).then_some(raw.detail);
        let (kind, name) = match raw.kind {
            TraceKind::Execute => (EventKind::Method, "Method::execute".to_owned()),
            TraceKind::Load => (EventKind::Method, told),
            TraceKind::Operator => (EventKind::Operator, called),
            TraceKind::Delegate => (EventKind::Delegate, called),
            TraceKind::Control => (EventKind::Control, called),
            TraceKind::DelegateInit => (EventKind::DelegateInit, told),
            TraceKind::Inner => (EventKind::DelegateOperator, named(told, debug_id)),
            // What has no kind of its own is the delegate's if one was called.
            _ if delegate.is_some() => (EventKind::DelegateOperator, told),
            _ => (EventKind::Other, told),
        };
        Some(Event {
            kind,
            name,
            thread: raw.thread,
            start_ns: raw.start_ns,
            duration_ns,
            instruction,
            delegate,
            delegate_debug_id: debug_id,
        })
    }
}

/// Delegates that number their operators leave the name out.
fn named(told: String, debug_id: Option<i64>) -> String {
    match debug_id {
        Some(id) if told.is_empty() => format!("operator {id}"),
        _ => told,
    }
}
