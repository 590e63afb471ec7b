//! From the events of runs to shares.

use super::record::Tracing;
use super::{CallTime, DelegateTime, Event, EventKind, PartTime, Profile, Total};
use std::collections::BTreeMap;

/// Calls and nanoseconds, over all runs.
#[derive(Debug, Clone, Copy, Default)]
struct Sum {
    calls: u64,
    ns: u64,
}

impl Sum {
    fn add(&mut self, event: &Event) {
        self.calls += 1;
        self.ns += event.duration_ns;
    }
}

/// What sums are divided by.
#[derive(Clone, Copy)]
struct Scale {
    runs: f64,
    mean_ns: f64,
}

impl Scale {
    /// Calls and nanoseconds a run, and the part of the total.
    fn of(self, sum: Sum) -> (f64, f64, f64) {
        let time_ns = sum.ns as f64 / self.runs;
        (sum.calls as f64 / self.runs, time_ns, self.share(time_ns))
    }

    fn share(self, time_ns: f64) -> f64 {
        if self.mean_ns > 0.0 { time_ns / self.mean_ns } else { 0.0 }
    }

    fn calls(self, sums: BTreeMap<String, Sum>) -> Vec<CallTime> {
        let call = |(name, sum)| {
            let (calls, time_ns, share) = self.of(sum);
            CallTime { name, calls, time_ns, share }
        };
        let mut calls: Vec<_> = sums.into_iter().map(call).collect();
        calls.sort_by(|a, b| b.time_ns.total_cmp(&a.time_ns));
        calls
    }
}

pub(super) fn summarise(method: &str, tracing: &Tracing, runs: Vec<Vec<Event>>) -> Profile {
    let total = total(&runs);
    let scale = Scale { runs: runs.len().max(1) as f64, mean_ns: total.mean_ns };
    let mut operators: BTreeMap<String, Sum> = BTreeMap::new();
    let mut parts = vec![Sum::default(); tracing.plan.delegates.len()];
    let mut inner: BTreeMap<&str, BTreeMap<String, Sum>> = BTreeMap::new();
    for event in runs.iter().flatten() {
        match (event.kind, event.delegate) {
            (EventKind::Operator | EventKind::Control, _) => {
                operators.entry(event.name.clone()).or_default().add(event);
            }
            (EventKind::Delegate, Some(part)) => parts[part].add(event),
            (EventKind::DelegateOperator, Some(part)) => {
                let told = inner.entry(&tracing.plan.delegates[part].id).or_default();
                told.entry(kind_of(&event.name).to_owned()).or_default().add(event);
            }
            _ => {}
        }
    }
    let operators = scale.calls(operators);
    let delegates = delegates(tracing, scale, &parts, inner);
    let called: f64 = operators.iter().map(|call| call.time_ns).sum::<f64>()
        + delegates.iter().map(|delegate| delegate.time_ns).sum::<f64>();
    let overhead_ns = total.mean_ns - called;
    Profile {
        method: method.to_owned(),
        total,
        operators,
        delegates,
        overhead_ns,
        overhead_share: scale.share(overhead_ns),
        load_ns: whole(&tracing.load),
        runs,
        load: tracing.load.clone(),
    }
}

fn total(runs: &[Vec<Event>]) -> Total {
    let mut times: Vec<_> = runs.iter().map(|events| whole(events)).collect();
    times.sort_unstable();
    let mean_ns = times.iter().sum::<u64>() as f64 / times.len().max(1) as f64;
    let at = |index: usize| times.get(index).copied().unwrap_or(0);
    Total { p50_ns: at(times.len() / 2), mean_ns, min_ns: at(0) }
}

/// The outermost event holds all others.
fn whole(events: &[Event]) -> u64 {
    let methods = events.iter().filter(|event| event.kind == EventKind::Method);
    methods.map(|event| event.duration_ns).max().unwrap_or(0)
}

fn delegates(
    tracing: &Tracing,
    scale: Scale,
    parts: &[Sum],
    mut inner: BTreeMap<&str, BTreeMap<String, Sum>>,
) -> Vec<DelegateTime> {
    let mut delegates: Vec<DelegateTime> = Vec::new();
    for (index, (part, sum)) in tracing.plan.delegates.iter().zip(parts).enumerate() {
        let at = delegates.iter().position(|delegate| delegate.id == part.id).unwrap_or_else(|| {
            let operators = scale.calls(inner.remove(part.id.as_str()).unwrap_or_default());
            let id = part.id.clone();
            delegates.push(DelegateTime {
                id,
                calls: 0.0,
                time_ns: 0.0,
                share: 0.0,
                parts: vec![],
                operators,
            });
            delegates.len() - 1
        });
        let (calls, time_ns, share) = scale.of(*sum);
        let init = tracing
            .load
            .iter()
            .find(|event| event.kind == EventKind::DelegateInit && event.delegate == Some(index));
        let init_ns = init.map(|event| event.duration_ns);
        let delegate = &mut delegates[at];
        delegate.calls += calls;
        delegate.time_ns += time_ns;
        delegate.share += share;
        delegate.parts.push(PartTime { index, calls, time_ns, share, init_ns });
    }
    delegates.sort_by(|a, b| b.time_ns.total_cmp(&a.time_ns));
    delegates
}

/// XNNPACK's operators are numbered within their kind: `Convolution (NHWC, QC8) IGEMM #3`.
fn kind_of(name: &str) -> &str {
    match name.rsplit_once(" #") {
        Some((kind, number)) if number.bytes().all(|byte| byte.is_ascii_digit()) && !number.is_empty() => {
            kind
        }
        _ => name,
    }
}
