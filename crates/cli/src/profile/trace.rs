//! The trace that chrome://tracing and Perfetto read.
//!
//! Source: "Trace Event Format", complete events (`X`) and metadata events (`M`); times are microseconds.

use crate::error::{Error, Result};
use nearside_pipeline::runtime::profile::{Event, EventKind, Profile};
use serde::Serialize;
use std::collections::BTreeSet;
use std::fs::File;
use std::io::{self, BufWriter, Write};
use std::os::unix::fs::FileTypeExt;
use std::path::Path;

const PROCESS: u32 = 1;

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Document<'a> {
    trace_events: Vec<TraceEvent<'a>>,
    display_time_unit: &'static str,
}

#[derive(Serialize)]
struct TraceEvent<'a> {
    name: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    cat: Option<&'static str>,
    ph: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    ts: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    dur: Option<f64>,
    pid: u32,
    #[serde(skip_serializing_if = "Option::is_none")]
    tid: Option<u32>,
    args: Args<'a>,
}

#[derive(Serialize, Default)]
struct Args<'a> {
    #[serde(skip_serializing_if = "Option::is_none")]
    name: Option<&'a str>,
    /// From 0; not for events of the load.
    #[serde(skip_serializing_if = "Option::is_none")]
    run: Option<usize>,
    #[serde(skip_serializing_if = "Option::is_none")]
    instruction: Option<usize>,
    #[serde(skip_serializing_if = "Option::is_none")]
    delegate: Option<usize>,
    #[serde(skip_serializing_if = "Option::is_none")]
    delegate_debug_id: Option<i64>,
}

/// Writes the load and all runs to `path`.
pub(super) fn write(path: &Path, name: &str, profile: &Profile) -> Result<()> {
    let failed = |source| Error::WriteFile { path: path.to_owned(), source };
    let document = Document { trace_events: events(name, profile), display_time_unit: "ns" };
    if std::fs::metadata(path).is_ok_and(|found| found.file_type().is_fifo()) {
        return Err(failed(io::Error::new(
            io::ErrorKind::InvalidInput,
            "it is a pipe, which may have no reader",
        )));
    }
    let mut file = BufWriter::new(File::create(path).map_err(failed)?);
    serde_json::to_writer(&mut file, &document).map_err(|error| failed(error.into()))?;
    file.write_all(b"\n").and_then(|()| file.flush()).map_err(failed)
}

fn events<'a>(name: &'a str, profile: &'a Profile) -> Vec<TraceEvent<'a>> {
    let all = || profile.load.iter().chain(profile.runs.iter().flatten());
    let origin = all().map(|event| event.start_ns).min().unwrap_or(0);
    let metadata = |what, name, tid| TraceEvent {
        name: what,
        cat: None,
        ph: "M",
        ts: None,
        dur: None,
        pid: PROCESS,
        tid,
        args: Args { name: Some(name), ..Args::default() },
    };
    let mut events = vec![metadata("process_name", name, None)];
    let main = profile.runs.iter().flatten().find(|event| event.kind == EventKind::Method);
    for thread in all().map(|event| event.thread).collect::<BTreeSet<_>>() {
        let is_main = main.is_some_and(|event| event.thread == thread);
        events.push(metadata(
            "thread_name",
            if is_main { &profile.method } else { "delegate" },
            Some(thread),
        ));
    }
    events.extend(profile.load.iter().map(|event| complete(event, None, origin)));
    for (run, told) in profile.runs.iter().enumerate() {
        events.extend(told.iter().map(|event| complete(event, Some(run), origin)));
    }
    events
}

fn complete(event: &Event, run: Option<usize>, origin: u64) -> TraceEvent<'_> {
    let us = |ns: u64| ns as f64 / 1000.0;
    TraceEvent {
        name: &event.name,
        cat: Some(category(event.kind)),
        ph: "X",
        ts: Some(us(event.start_ns - origin)),
        dur: Some(us(event.duration_ns)),
        pid: PROCESS,
        tid: Some(event.thread),
        args: Args {
            name: None,
            run,
            instruction: event.instruction,
            delegate: event.delegate,
            delegate_debug_id: event.delegate_debug_id,
        },
    }
}

fn category(kind: EventKind) -> &'static str {
    match kind {
        EventKind::Method => "method",
        EventKind::Operator => "operator",
        EventKind::Delegate => "delegate",
        EventKind::DelegateOperator => "delegate_operator",
        EventKind::Control => "control",
        EventKind::DelegateInit => "delegate_init",
        _ => "other",
    }
}
