//! What the calls took, for people and as JSON.

use super::session::{Called, Session};
use crate::table;
use nearside_pipeline::runtime::thread_count;
use serde::Serialize;

#[derive(Serialize)]
pub(super) struct Document {
    name: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    variant: Option<String>,
    threads: usize,
    methods: Vec<MethodDocument>,
    memory: MemoryDocument,
}

#[derive(Serialize)]
struct MethodDocument {
    name: String,
    load_ms: f64,
    calls: usize,
    /// Null without calls.
    first_ms: Option<f64>,
    min_ms: Option<f64>,
    median_ms: Option<f64>,
    total_ms: f64,
    /// Of the latest call.
    outputs: Vec<OutputDocument>,
}

#[derive(Serialize)]
struct OutputDocument {
    /// An element type, or the kind of what is no tensor.
    kind: String,
    shape: Option<Vec<i32>>,
}

/// Resident memory of the process, bytes; null where the system does not tell.
#[derive(Serialize)]
struct MemoryDocument {
    /// Before the first method was loaded.
    start_bytes: Option<u64>,
    /// At most since the process started, loading included.
    peak_bytes: Option<u64>,
    /// At most since the latest method was loaded.
    calls_peak_bytes: Option<u64>,
}

impl Document {
    pub(super) fn new(session: &Session) -> Self {
        let peaks = session.peaks();
        Self {
            name: session.subject.name.clone(),
            variant: session.subject.variant.clone(),
            threads: thread_count(),
            methods: session.methods.iter().map(|(name, called)| method(name, called)).collect(),
            memory: MemoryDocument {
                start_bytes: peaks.start,
                peak_bytes: peaks.all,
                calls_peak_bytes: peaks.calls,
            },
        }
    }

    pub(super) fn text(&self) -> String {
        let variant = self.variant.as_ref().map(|variant| format!(" ({variant})")).unwrap_or_default();
        let bytes = |bytes: Option<u64>| bytes.map_or("not told".into(), |bytes| format!("{bytes} bytes"));
        let mut text = format!("{}{variant}\n", self.name);
        text += &table::facts(&[
            ("threads", self.threads.to_string()),
            ("peak memory", bytes(self.memory.peak_bytes)),
            ("in calls", bytes(self.memory.calls_peak_bytes)),
        ]);
        for method in &self.methods {
            let ms = |value: Option<f64>| value.map_or("-".into(), |ms| format!("{} ms", table::ms(ms)));
            text += &format!("\n  method {}\n", method.name);
            let outputs: Vec<_> = method.outputs.iter().map(OutputDocument::text).collect();
            text += &table::facts(&[
                ("  load", ms(Some(method.load_ms))),
                ("  calls", method.calls.to_string()),
                (
                    "  a call",
                    format!(
                        "first {}, shortest {}, median {}",
                        ms(method.first_ms),
                        ms(method.min_ms),
                        ms(method.median_ms)
                    ),
                ),
                ("  outputs", if outputs.is_empty() { "none".into() } else { outputs.join(", ") }),
            ]);
        }
        text
    }
}

impl OutputDocument {
    fn text(&self) -> String {
        let shape = self.shape.as_ref().map(|shape| format!(" {shape:?}")).unwrap_or_default();
        format!("{}{shape}", self.kind)
    }
}

fn method(name: &str, called: &Called) -> MethodDocument {
    let mut sorted = called.calls_ms.clone();
    sorted.sort_by(f64::total_cmp);
    MethodDocument {
        name: name.to_owned(),
        load_ms: called.load_ms,
        calls: sorted.len(),
        first_ms: called.calls_ms.first().copied(),
        min_ms: sorted.first().copied(),
        median_ms: sorted.get(sorted.len() / 2).copied(),
        total_ms: sorted.iter().sum(),
        outputs: called
            .outputs
            .iter()
            .map(|(kind, shape)| OutputDocument { kind: kind.clone(), shape: shape.clone() })
            .collect(),
    }
}
