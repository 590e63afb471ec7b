//! An answer as it comes: as text, or as lines of JSON.

use crate::error::Result;
use crate::{stdout, table};
use nearside_pipeline::language::{ContextFull, Finished, Reason, Statistics};
use nearside_pipeline::{Generation, TextEvent};
use serde_json::{Value, json};
use std::fmt::Write;
use std::time::Duration;

/// How an answer is shown.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Output {
    /// Lines of JSON instead of text.
    pub(crate) json: bool,
}

/// Shows an answer as it comes, and gives its end.
pub(crate) fn show(generation: Generation, output: Output) -> Result<Finished> {
    let mut end = None;
    for event in generation {
        let event = event?;
        if output.json {
            stdout::line(&document(&event))?;
        } else {
            match &event {
                TextEvent::Token { text, .. } if !text.is_empty() => stdout::write(text)?,
                TextEvent::ContextFull(full) => eprintln!("\n[{}]", context_full(full)),
                _ => {}
            }
        }
        if let TextEvent::Finished(finished) = event {
            end = Some(*finished);
        }
    }
    // The events end with an error or with this one.
    let finished = end.ok_or(nearside_pipeline::Error::Closed("generation"))?;
    if !output.json && !finished.text.ends_with('\n') {
        stdout::write("\n")?;
    }
    Ok(finished)
}

fn context_full(full: &ContextFull) -> String {
    let room = format!("the context of {} tokens is full", full.context_length);
    match full.dropped {
        None => room,
        Some(dropped) if dropped.messages > 0 => {
            format!("{room}: the oldest {} messages were dropped", dropped.messages)
        }
        Some(dropped) => format!("{room}: {} tokens were dropped", dropped.tokens),
    }
}

fn document(event: &TextEvent) -> Value {
    match event {
        TextEvent::Token { id, text } => json!({"event": "token", "id": id, "text": text}),
        TextEvent::ContextFull(full) => json!({
            "event": "context_full",
            "tokens": full.tokens,
            "context_length": full.context_length,
            "dropped": full.dropped.map(|dropped| json!({"messages": dropped.messages, "tokens": dropped.tokens})),
        }),
        TextEvent::Finished(finished) => {
            let (token, stop) = match finished.reason {
                Reason::EndOfSequence(token) => (Some(token), None),
                Reason::StopString(index) => (None, Some(index)),
                _ => (None, None),
            };
            json!({
                "event": "finished", "reason": finished.reason.name(), "end_token": token, "stop_string": stop,
                "text": finished.text, "statistics": numbers(&finished.statistics),
            })
        }
        TextEvent::ToolCall(call) => json!({"event": "tool_call", "call": call}),
        _ => json!({"event": "unknown"}),
    }
}

fn ms(duration: Duration) -> f64 {
    duration.as_secs_f64() * 1000.0
}

pub(crate) fn numbers(statistics: &Statistics) -> Value {
    json!({
        "load_ms": ms(statistics.load),
        "time_to_first_token_ms": statistics.time_to_first_token.map(ms),
        "prompt_tokens": statistics.prompt_tokens,
        "reused_tokens": statistics.reused_tokens,
        "prefilled_tokens": statistics.prefilled_tokens,
        "prefill_ms": ms(statistics.prefill),
        "prefill_tokens_per_second": statistics.prefill_rate(),
        "generated_tokens": statistics.generated_tokens,
        "decode_ms": ms(statistics.decode),
        "decode_tokens_per_second": statistics.decode_rate(),
        "between_tokens_ms": statistics.between_tokens.map(|between| {
            json!({"p50": ms(between.p50), "p95": ms(between.p95), "p99": ms(between.p99), "max": ms(between.max)})
        }),
        "guessed_tokens": statistics.guessed_tokens,
        "accepted_tokens": statistics.accepted_tokens,
        "recomputed_tokens": statistics.recomputed_tokens,
        "model_calls": statistics.model_calls,
        "model_ms": ms(statistics.model),
        "own_ms": ms(statistics.own),
        "waited_ms": ms(statistics.waited),
        "resident_bytes": statistics.resident.map(|resident| resident.current_bytes),
        "peak_resident_bytes": statistics.resident.map(|resident| resident.peak_bytes),
        "thermal_state": statistics.thermal.map(nearside_pipeline::language::ThermalState::name),
    })
}

/// Shows what an answer took, on stderr.
pub(crate) fn statistics(finished: &Finished) {
    eprint!("{}", text(finished));
}

/// What an answer took, for people.
pub(crate) fn text(finished: &Finished) -> String {
    let statistics = &finished.statistics;
    let rate = |rate: Option<f64>| rate.map_or(String::new(), |rate| format!(", {rate:.1} tokens/s"));
    let mut facts = vec![
        ("ended by", ended_by(finished)),
        ("load", format!("{} ms", table::ms(ms(statistics.load)))),
        (
            "prompt",
            format!(
                "{} tokens, {} of them computed in {} ms{}; {} were there",
                statistics.prompt_tokens,
                statistics.prefilled_tokens,
                table::ms(ms(statistics.prefill)),
                rate(statistics.prefill_rate()),
                statistics.reused_tokens
            ),
        ),
    ];
    if let Some(first) = statistics.time_to_first_token {
        facts.push(("first token", format!("after {} ms", table::ms(ms(first)))));
    }
    facts.push((
        "answer",
        format!("{} tokens{}", statistics.generated_tokens, rate(statistics.decode_rate())),
    ));
    if let Some(between) = statistics.between_tokens {
        let [p50, p95, p99, max] =
            [between.p50, between.p95, between.p99, between.max].map(|time| table::ms(ms(time)));
        facts.push(("between", format!("p50 {p50} ms, p95 {p95} ms, p99 {p99} ms, at most {max} ms")));
    }
    if statistics.guessed_tokens > 0 {
        facts.push((
            "guesses",
            format!("{} of {} were right", statistics.accepted_tokens, statistics.guessed_tokens),
        ));
    }
    facts.push((
        "time",
        format!(
            "{} ms in the model, {} ms of our own ({:.2} %)",
            table::ms(ms(statistics.model)),
            table::ms(ms(statistics.own)),
            100.0 * statistics.own_share()
        ),
    ));
    if let Some(resident) = statistics.resident {
        let mb = |bytes: u64| bytes as f64 / 1e6;
        facts.push((
            "memory",
            format!(
                "{:.1} MB resident, {:.1} MB at most",
                mb(resident.current_bytes),
                mb(resident.peak_bytes)
            ),
        ));
    }
    let width = facts.iter().map(|(name, _)| name.len()).max().unwrap_or(0);
    facts.iter().fold(String::new(), |mut text, (name, fact)| {
        let _ = writeln!(text, "  {name:<width$}  {fact}");
        text
    })
}

fn ended_by(finished: &Finished) -> String {
    match finished.reason {
        Reason::EndOfSequence(token) => format!("token {token}"),
        other => other.name().replace('_', " "),
    }
}
