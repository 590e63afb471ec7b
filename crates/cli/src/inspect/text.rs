//! What `inspect` found, for people.

use super::document::{
    DelegateDocument, MethodDocument, OperatorDocument, PackageDocument, ProgramDocument, ValueDocument,
};
use super::task;
use crate::table;
use nearside_pipeline::Package;
use std::fmt::Write;

pub(super) fn package(package: &Package, document: &PackageDocument<'_>) -> String {
    let manifest = document.manifest;
    let mut text = format!("{}\n", manifest.name);
    let mut facts = vec![
        ("task", manifest.task.kind().to_string()),
        ("licence", manifest.licence.clone()),
        ("source", manifest.source.clone()),
    ];
    facts.extend(task::facts(package));
    text += &table::facts(&facts);
    for (variant, program) in manifest.variants.iter().zip(&document.programs) {
        let _ = writeln!(text, "\nvariant {}", variant.name);
        text += &table::facts(&[
            ("bytes", program.bytes.to_string()),
            ("quantisation", task::quantisation(variant)),
            (
                "at export",
                format!("{:.1} % of the graph's operators went to delegates", variant.coverage * 100.0),
            ),
            ("quality", task::quality(variant)),
            ("exported by", format!("ExecuTorch {}, torch {}", variant.executorch, variant.torch)),
        ]);
        text += &methods(program);
    }
    text
}

pub(super) fn program(program: &ProgramDocument) -> String {
    let mut text = format!("{}\n", program.file);
    text += &table::facts(&[("bytes", program.bytes.to_string())]);
    text + &methods(program)
}

fn methods(program: &ProgramDocument) -> String {
    program.methods.iter().map(|found| format!("\n  method {}\n", found.name) + &method(found)).collect()
}

fn method(method: &MethodDocument) -> String {
    let memory = &method.memory;
    let mut facts = vec![
        ("  inputs", values(&method.inputs)),
        ("  outputs", values(&method.outputs)),
        ("  coverage", coverage(method)),
        ("  weights", weights(method)),
        (
            "  memory",
            format!("{} bytes in all; {} more stay in the mapped file", memory.total, memory.mapped),
        ),
        (
            "",
            format!(
                "{} planned ({} of it state), {} for delegates, {} of workspace, {} of constants",
                memory.planned, memory.state, memory.delegates, memory.workspace, memory.constants
            ),
        ),
    ];
    if !memory.unknown_delegates.is_empty() {
        let unknown = memory.unknown_delegates.join(", ");
        facts
            .push(("", format!("for {unknown} only the payload is counted: it does not tell what it takes")));
    }
    if !method.external.is_empty() {
        facts.push(("  other files", format!("{} tensors or pieces of data", method.external.len())));
    }
    for problem in &method.problems {
        facts.push(("  problem", problem.message.clone()));
        facts.push(("", format!("hint: {}", problem.hint)));
    }
    table::facts(&facts) + &calls(method)
}

fn weights(method: &MethodDocument) -> String {
    let delegated = method.delegates.iter().map(|delegate| delegate.constant_bytes).sum::<Option<u64>>();
    let delegated = delegated.map_or("an unknown number of".into(), |bytes| bytes.to_string());
    format!("{delegated} bytes in delegates, {} in the file outside of them", method.constant_bytes)
}

fn coverage(method: &MethodDocument) -> String {
    let counted = &method.coverage;
    match (counted.share, counted.delegated) {
        (_, Some(0)) if counted.portable == 0 => "none: it calls no operators".into(),
        (Some(share), Some(delegated)) => {
            let all = delegated + counted.portable;
            format!("{:.1} % ({delegated} of {all} operator calls are in delegates)", share * 100.0)
        }
        (Some(share), None) => format!("{:.1} % (no operator call is outside of delegates)", share * 100.0),
        (None, _) => {
            format!("unknown: a delegate does not tell what is in it; {} calls are outside", counted.portable)
        }
    }
}

/// Who runs what, how often.
fn calls(method: &MethodDocument) -> String {
    let mut table = table::Table::new(&["  runs in", "operator", "calls"]).left(2);
    let mut rows = 0;
    let mut row = |place: &str, operator: &str, calls: usize| {
        rows += 1;
        table.row(vec![format!("  {place}"), operator.to_owned(), calls.to_string()]);
    };
    for delegate in &method.delegates {
        let place = delegate_name(delegate);
        match &delegate.operators {
            Some(operators) => operators.iter().for_each(|(name, calls)| row(&place, name, *calls)),
            None => row(&place, "(not told)", delegate.calls),
        }
    }
    for operator in &method.portable {
        let place = match operator {
            OperatorDocument { available: false, .. } => "no kernel",
            OperatorDocument { own: true, .. } => "nearside",
            _ => "portable",
        };
        row(place, &operator.name, operator.calls);
    }
    if rows == 0 { String::new() } else { table.render() }
}

fn delegate_name(delegate: &DelegateDocument) -> String {
    if delegate.available { delegate.name.clone() } else { format!("{} (not here)", delegate.name) }
}

fn values(values: &[ValueDocument]) -> String {
    let text = |value: &ValueDocument| match (&value.dtype, &value.shape) {
        (Some(dtype), Some(shape)) => {
            let bound = if value.dynamic == Some(true) { " at most" } else { "" };
            format!("{dtype} {shape:?}{bound}")
        }
        _ => value.kind.clone(),
    };
    list(&values.iter().map(text).collect::<Vec<_>>())
}

fn list(names: &[String]) -> String {
    if names.is_empty() { "none".into() } else { names.join(", ") }
}
