//! What the command writes, as JSON or as a table.

use super::Subject;
use crate::table::{self, Table};
use nearside_pipeline::runtime::profile::{CallTime, DelegateTime, PartTime, Profile};
use serde::Serialize;

#[derive(Serialize)]
pub(super) struct Document {
    /// The package, or the program's file.
    name: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    variant: Option<String>,
    method: String,
    threads: usize,
    runs: usize,
    load_ms: f64,
    total_ms: Total,
    delegates: Vec<Delegate>,
    operators: Vec<Call>,
    overhead: Part,
}

#[derive(Serialize)]
struct Total {
    p50: f64,
    mean: f64,
    min: f64,
}

#[derive(Serialize)]
struct Delegate {
    id: String,
    calls: f64,
    #[serde(flatten)]
    part: Part,
    parts: Vec<DelegatedPart>,
    operators: Vec<Call>,
}

#[derive(Serialize)]
struct DelegatedPart {
    index: usize,
    calls: f64,
    #[serde(flatten)]
    part: Part,
    init_ms: Option<f64>,
}

#[derive(Serialize)]
struct Call {
    name: String,
    calls: f64,
    #[serde(flatten)]
    part: Part,
}

/// Of the mean run.
#[derive(Serialize, Clone, Copy)]
struct Part {
    time_ms: f64,
    share: f64,
}

impl Part {
    fn new(time_ns: f64, share: f64) -> Self {
        Self { time_ms: ms(time_ns), share }
    }
}

impl Document {
    pub(super) fn new(subject: &Subject, threads: usize, profile: &Profile) -> Self {
        let total = &profile.total;
        Self {
            name: subject.name.clone(),
            variant: subject.variant.clone(),
            method: profile.method.clone(),
            threads,
            runs: profile.runs.len(),
            load_ms: ms(profile.load_ns as f64),
            total_ms: Total {
                p50: ms(total.p50_ns as f64),
                mean: ms(total.mean_ns),
                min: ms(total.min_ns as f64),
            },
            delegates: profile.delegates.iter().map(Delegate::new).collect(),
            operators: profile.operators.iter().map(Call::new).collect(),
            overhead: Part::new(profile.overhead_ns, profile.overhead_share),
        }
    }

    pub(super) fn text(&self) -> String {
        let variant = self.variant.as_ref().map(|variant| format!(" ({variant})")).unwrap_or_default();
        let mut text = format!("{}{variant}, method {}\n", self.name, self.method);
        let total = &self.total_ms;
        text += &table::facts(&[
            ("runs", self.runs.to_string()),
            ("threads", self.threads.to_string()),
            (
                "a run",
                format!(
                    "median {} ms, mean {} ms, shortest {} ms",
                    table::ms(total.p50),
                    table::ms(total.mean),
                    table::ms(total.min)
                ),
            ),
            ("load", self.load_text()),
        ]);
        text.push('\n');
        let mut table = Table::new(&["", "calls", "ms", "share"]);
        for delegate in &self.delegates {
            row(&mut table, &delegate.id, Some(delegate.calls), delegate.part);
            for call in &delegate.operators {
                row(&mut table, &format!("  {}", call.name), Some(call.calls), call.part);
            }
            if let Some(rest) = delegate.untold() {
                row(&mut table, "  (not told)", None, rest);
            }
        }
        for call in &self.operators {
            row(&mut table, &call.name, Some(call.calls), call.part);
        }
        row(&mut table, "between the calls", None, self.overhead);
        row(&mut table, "total", None, Part { time_ms: total.mean, share: 1.0 });
        text + &table.render()
    }

    fn load_text(&self) -> String {
        let mut text = format!("{} ms", table::ms(self.load_ms));
        for delegate in &self.delegates {
            let inits: Vec<_> = delegate.parts.iter().filter_map(|part| part.init_ms).collect();
            if !inits.is_empty() {
                let time = table::ms(inits.iter().sum());
                text += &format!(", of that {time} ms for {} of {}", parts(inits.len()), delegate.id);
            }
        }
        text
    }
}

impl Delegate {
    fn new(delegate: &DelegateTime) -> Self {
        Self {
            id: delegate.id.clone(),
            calls: delegate.calls,
            part: Part::new(delegate.time_ns, delegate.share),
            parts: delegate.parts.iter().map(DelegatedPart::new).collect(),
            operators: delegate.operators.iter().map(Call::new).collect(),
        }
    }

    /// What a delegate that tells of its operators leaves out.
    fn untold(&self) -> Option<Part> {
        let told = |value: fn(&Part) -> f64| self.operators.iter().map(|call| value(&call.part)).sum::<f64>();
        (!self.operators.is_empty()).then(|| Part {
            time_ms: self.part.time_ms - told(|part| part.time_ms),
            share: self.part.share - told(|part| part.share),
        })
    }
}

impl DelegatedPart {
    fn new(part: &PartTime) -> Self {
        Self {
            index: part.index,
            calls: part.calls,
            part: Part::new(part.time_ns, part.share),
            init_ms: part.init_ns.map(|ns| ms(ns as f64)),
        }
    }
}

impl Call {
    fn new(call: &CallTime) -> Self {
        Self { name: call.name.clone(), calls: call.calls, part: Part::new(call.time_ns, call.share) }
    }
}

fn row(table: &mut Table, name: &str, calls: Option<f64>, part: Part) {
    let calls = calls.map_or(String::new(), |calls| {
        if calls.fract() == 0.0 { format!("{calls:.0}") } else { format!("{calls:.2}") }
    });
    let share = format!("{:.2} %", 100.0 * part.share);
    table.row(vec![name.to_owned(), calls, format!("{:.4}", part.time_ms), share]);
}

fn parts(count: usize) -> String {
    if count == 1 { "1 part".into() } else { format!("{count} parts") }
}

fn ms(ns: f64) -> f64 {
    ns / 1e6
}
