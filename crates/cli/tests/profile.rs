//! `nearside profile` as a user runs it.
#![allow(missing_docs)]

use serde_json::Value;
use std::path::PathBuf;
use std::process::{Command, Output};

fn models() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../models")
}

fn model(name: &str) -> String {
    models().join(name).display().to_string()
}

fn nearside(args: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_nearside")).args(args).output().unwrap()
}

fn stdout(args: &[&str]) -> String {
    let output = nearside(args);
    assert!(output.status.success(), "{args:?}: {}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8(output.stdout).unwrap()
}

fn json(args: &[&str]) -> Value {
    serde_json::from_str(&stdout(args)).unwrap()
}

fn number(value: &Value) -> f64 {
    value.as_f64().unwrap_or_else(|| panic!("{value} is not a number"))
}

fn sum(rows: &Value, key: &str) -> f64 {
    rows.as_array().unwrap().iter().map(|row| number(&row[key])).sum()
}

#[test]
fn the_json_of_a_package_adds_up() {
    let photo = model("media/coffee.jpg");
    let package = model("efficientnet-lite0.nearside");
    let document = json(&["profile", &package, "--runs", "5", "--image", &photo, "--threads", "1", "--json"]);
    assert_eq!(document["name"], "efficientnet-lite0");
    assert_eq!(document["variant"], "xnnpack-int8");
    assert_eq!(document["method"], "forward");
    assert_eq!((&document["runs"], &document["threads"]), (&5.into(), &1.into()));
    let (total, delegates) = (&document["total_ms"], &document["delegates"]);
    assert!(number(&total["min"]) <= number(&total["p50"]) && number(&total["min"]) > 0.0, "{total}");
    for key in ["share", "time_ms"] {
        let all = sum(delegates, key) + sum(&document["operators"], key) + number(&document["overhead"][key]);
        let whole = if key == "share" { 1.0 } else { number(&total["mean"]) };
        assert!((all - whole).abs() < 1e-6 * whole, "{key}: {all} of {whole}");
    }
    assert_eq!(delegates[0]["id"], "XnnpackBackend");
    let convolutions = delegates[0]["operators"].as_array().unwrap().iter();
    let depthwise = convolutions.filter(|call| call["name"].as_str().unwrap().contains("DWConv"));
    assert_eq!(depthwise.map(|call| number(&call["calls"])).sum::<f64>(), 16.0);
    let init = number(&delegates[0]["parts"][0]["init_ms"]);
    assert!(init > 0.0 && init <= number(&document["load_ms"]), "{init}");
}

#[test]
fn the_table_of_a_program_sums_to_all_of_it() {
    let option = "xnnpack.workspace_sharing_mode=per-model";
    let table = stdout(&[
        "profile",
        &model("fixtures/counter.pte"),
        "--runs",
        "3",
        "--delegate-option",
        option,
        "--delegate-option",
        "openvino.allow_reduced_precision=false",
    ]);
    let shares: Vec<f64> =
        table.lines().filter_map(|line| line.strip_suffix(" %")?.rsplit(' ').next()?.parse().ok()).collect();
    let (total, parts) = shares.split_last().unwrap();
    assert_eq!(*total, 100.0, "{table}");
    let rounding = 0.005 * parts.len() as f64;
    assert!((parts.iter().sum::<f64>() - 100.0).abs() <= rounding, "{table}");
    assert!(table.contains("aten::") && table.contains("between the calls"), "{table}");
}

#[test]
fn weights_in_a_data_file_are_given_beside_the_program() {
    let (program, data) = (model("fixtures/external-xnnpack.pte"), model("fixtures/external-xnnpack.ptd"));
    let document = json(&["profile", &program, "--data", &data, "--runs", "2", "--json"]);
    assert_eq!(document["delegates"][0]["id"], "XnnpackBackend");
    assert!(number(&document["delegates"][0]["time_ms"]) > 0.0, "{document}");
}

#[test]
fn the_trace_holds_the_load_and_every_run() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("trace.json").display().to_string();
    let program = model("fixtures/mlp-xnnpack.pte");
    stdout(&["profile", &program, "--runs", "4", "--warmup", "0", "--trace", &file]);
    let trace: Value = serde_json::from_str(&std::fs::read_to_string(&file).unwrap()).unwrap();
    let events = trace["traceEvents"].as_array().unwrap();
    let of = |category: &str| -> Vec<&Value> {
        events.iter().filter(|event| event["ph"] == "X" && event["cat"] == category).collect()
    };
    let runs: Vec<_> = of("method").into_iter().filter(|event| event["name"] == "Method::execute").collect();
    assert_eq!(
        runs.iter().map(|event| event["args"]["run"].as_u64()).collect::<Vec<_>>(),
        [0, 1, 2, 3].map(Some)
    );
    assert!(!of("delegate_init").is_empty() && !of("delegate_operator").is_empty());
    // Calls lie within their run, by time and by thread, and a run after the one before.
    let end = |event: &Value| number(&event["ts"]) + number(&event["dur"]);
    for call in of("delegate") {
        let run = runs[call["args"]["run"].as_u64().unwrap() as usize];
        assert!(number(&run["ts"]) <= number(&call["ts"]) && end(call) <= end(run) + 1e-6, "{call} in {run}");
        assert_eq!(run["tid"], call["tid"]);
    }
    assert!(runs.windows(2).all(|pair| end(pair[0]) <= number(&pair[1]["ts"])));
    let named: Vec<_> =
        events.iter().filter(|event| event["ph"] == "M").map(|event| &event["name"]).collect();
    assert_eq!(named, ["process_name", "thread_name"]);
}

#[test]
fn what_can_not_be_profiled_fails_with_a_hint() {
    let program = model("fixtures/add.pte");
    let package = model("fixtures/tiny-classifier.nearside");
    let missing = model("fixtures/nothing.pte");
    let nowhere = "/nonexistent/trace.json";
    for (args, said, code) in [
        (&["profile", &program, "--method", "backward"][..], "backward", 1),
        (&["profile", &missing], "nothing.pte", 1),
        (&["profile", &program, "--delegate-option", "xnnpack.cache=true"], "weight_cache_enabled", 1),
        (&["profile", &program, "--delegate-option", "nnapi.any=1"], "NNAPI", 1),
        (&["profile", &package, "--variant", "gpu"], "gpu", 1),
        (&["profile", &package, "--image", &program], "add.pte", 1),
        (&["profile", &program, "--trace", nowhere], nowhere, 1),
        (&["profile", &program, "--image", "photo.jpg"], "--image", 2),
        (&["profile", &package, "--data", "weights.ptd"], "--data", 2),
        (&["profile", &program, "--runs", "0"], "--runs", 2),
    ] {
        let output = nearside(args);
        let text = String::from_utf8_lossy(&output.stderr);
        assert_eq!(output.status.code(), Some(code), "{args:?}: {text}");
        assert!(text.contains(said) && text.contains("error: "), "{args:?}: {text}");
        assert!(output.stdout.is_empty() && !text.contains("panicked"), "{args:?}: {text}");
    }
}

#[test]
fn runs_without_end_are_no_command_line() {
    let add = model("fixtures/add.pte");
    for (flag, number) in
        [("--runs", "0"), ("--runs", "10001"), ("--runs", "18446744073709551615"), ("--warmup", "10001")]
    {
        let output = nearside(&["profile", &add, flag, number]);
        assert_eq!(
            output.status.code(),
            Some(2),
            "{flag} {number}: {}",
            String::from_utf8_lossy(&output.stderr)
        );
    }
}
