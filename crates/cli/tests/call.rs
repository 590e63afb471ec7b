//! `nearside call` as a user and as a program runs it.
#![allow(missing_docs)]

use safetensors::tensor::{Dtype, TensorView};
use safetensors::{SafeTensors, serialize};
use serde_json::Value;
use std::collections::HashMap;
use std::io::{Read, Write};
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};

fn fixture(name: &str) -> String {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../models/fixtures").join(name).display().to_string()
}

fn command(args: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_nearside"));
    command.arg("call").args(args);
    command
}

fn call(args: &[&str]) -> Output {
    command(args).output().unwrap()
}

fn stderr(output: &Output) -> String {
    String::from_utf8(output.stderr.clone()).unwrap()
}

fn json(args: &[&str]) -> Value {
    let output = call(args);
    assert!(output.status.success(), "{args:?}: {}", stderr(&output));
    serde_json::from_slice(&output.stdout).unwrap()
}

/// Runs what must fail with exit code 1, a message with a hint, and no panic.
fn failure(args: &[&str]) -> String {
    let output = call(args);
    let said = stderr(&output);
    assert_eq!(output.status.code(), Some(1), "{args:?}: {said}");
    assert!(said.contains("error: ") && said.contains("hint: ") && !said.contains("panicked"), "{said}");
    said
}

/// A tensor of a document, by its values.
enum Tensor<'a> {
    F32(&'a [usize], &'a [f32]),
    I64(&'a [usize], &'a [i64]),
}

fn document(facts: &[(&str, &str)], tensors: &[Tensor<'_>]) -> Vec<u8> {
    let bytes: Vec<Vec<u8>> = tensors
        .iter()
        .map(|tensor| match tensor {
            Tensor::F32(_, values) => values.iter().flat_map(|value| value.to_le_bytes()).collect(),
            Tensor::I64(_, values) => values.iter().flat_map(|value| value.to_le_bytes()).collect(),
        })
        .collect();
    let views = tensors.iter().zip(&bytes).enumerate().map(|(index, (tensor, bytes))| {
        let (dtype, shape) = match tensor {
            Tensor::F32(shape, _) => (Dtype::F32, shape),
            Tensor::I64(shape, _) => (Dtype::I64, shape),
        };
        (index.to_string(), TensorView::new(dtype, shape.to_vec(), bytes).unwrap())
    });
    let facts: HashMap<_, _> =
        facts.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())).collect();
    serialize(views, (!facts.is_empty()).then_some(facts)).unwrap()
}

fn facts(document: &[u8]) -> HashMap<String, String> {
    SafeTensors::read_metadata(document).unwrap().1.metadata().clone().unwrap_or_default()
}

fn f32s(document: &[u8], name: &str) -> Vec<f32> {
    let tensors = SafeTensors::deserialize(document).unwrap();
    let tensor = tensors.tensor(name).unwrap();
    assert_eq!(tensor.dtype(), Dtype::F32);
    tensor.data().as_chunks::<4>().0.iter().map(|bytes| f32::from_le_bytes(*bytes)).collect()
}

/// A call of `counter.pte`: x and its slot.
fn count(facts: &[(&str, &str)], x: [f32; 4], slot: i64) -> Vec<u8> {
    document(facts, &[Tensor::F32(&[1, 4], &x), Tensor::I64(&[1], &[slot])])
}

/// What the counter gives for two calls with ones, in slots 0 and 1. Its average begins as 1, 2, 3, 4.
const FIRST: [f32; 4] = [2.0, 2.5, 3.0, 3.5];
const SECOND: [f32; 4] = [3.0, 3.25, 3.5, 3.75];

fn write(folder: &Path, name: &str, bytes: &[u8]) -> String {
    let path = folder.join(name);
    std::fs::write(&path, bytes).unwrap();
    path.display().to_string()
}

#[test]
fn calls_from_files_follow_one_another() {
    let folder = tempfile::tempdir().unwrap();
    let first = write(folder.path(), "first.safetensors", &count(&[], [1.0; 4], 0));
    let second = write(folder.path(), "second.safetensors", &count(&[], [1.0; 4], 1));
    let out = folder.path().join("made/out");
    let to = out.display().to_string();
    let program = fixture("counter.pte");
    let report = json(&[&program, &first, &second, "--out", &to, "--threads", "1", "--json"]);
    assert_eq!((&report["name"], &report["threads"]), (&program.as_str().into(), &1.into()));
    let method = &report["methods"][0];
    assert_eq!((&method["name"], &method["calls"]), (&"forward".into(), &2.into()));
    assert_eq!(method["outputs"], serde_json::json!([{"kind": "f32", "shape": [1, 4]}]));
    for key in ["load_ms", "first_ms", "min_ms", "median_ms", "total_ms"] {
        assert!(method[key].as_f64().unwrap() > 0.0, "{key}");
    }
    let memory = |key: &str| report["memory"][key].as_u64().unwrap();
    assert!(memory("start_bytes") > 0 && memory("calls_peak_bytes") > 0);
    assert!(memory("peak_bytes") >= memory("calls_peak_bytes"));
    let written = |name: &str| std::fs::read(out.join(name)).unwrap();
    assert_eq!(f32s(&written("0.safetensors"), "0"), FIRST);
    assert_eq!(f32s(&written("1.safetensors"), "0"), SECOND);
    assert_eq!(facts(&written("1.safetensors"))["method"], "forward");

    let text = String::from_utf8(call(&[&program, &first]).stdout).unwrap();
    assert!(text.contains("method forward") && text.contains("f32 [1, 4]"), "{text}");
}

#[test]
fn a_method_without_inputs_is_called_without_a_file() {
    let folder = tempfile::tempdir().unwrap();
    let out = folder.path().display().to_string();
    let program = fixture("metadata.pte");
    let report = json(&[&program, "--method", "get_max_seq_len", "--out", &out, "--json"]);
    assert_eq!(report["methods"][0]["outputs"], serde_json::json!([{"kind": "Int", "shape": null}]));
    let written = std::fs::read(folder.path().join("0.safetensors")).unwrap();
    let tensors = SafeTensors::deserialize(&written).unwrap();
    let number = tensors.tensor("0").unwrap();
    assert_eq!((number.dtype(), number.shape().len(), number.data().len()), (Dtype::I64, 0, 8));
}

#[test]
fn a_package_is_called_by_its_own_method() {
    let folder = tempfile::tempdir().unwrap();
    let pixels = vec![0.5; 3 * 32 * 32];
    let input = document(&[], &[Tensor::F32(&[1, 3, 32, 32], &pixels)]);
    let input = write(folder.path(), "pixels.safetensors", &input);
    let report = json(&[&fixture("tiny-variants.nearside"), &input, "--variant", "portable-fp32", "--json"]);
    assert_eq!(report["variant"], "portable-fp32");
    assert_eq!(report["methods"][0]["outputs"][0]["shape"], serde_json::json!([1, 4]));
}

/// A running stream.
struct Stream {
    child: std::process::Child,
}

impl Stream {
    fn start(args: &[&str]) -> Self {
        let mut command = command(args);
        command.arg("--stream").stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
        Self { child: command.spawn().unwrap() }
    }

    /// Sends a document and reads the answer.
    fn ask(&mut self, request: &[u8]) -> Vec<u8> {
        self.child.stdin.as_mut().unwrap().write_all(request).unwrap();
        let stdout = self.child.stdout.as_mut().unwrap();
        let mut reply = vec![0; 8];
        stdout.read_exact(&mut reply).unwrap();
        let length = u64::from_le_bytes(reply[..8].try_into().unwrap()) as usize;
        reply.resize(8 + length, 0);
        stdout.read_exact(&mut reply[8..]).unwrap();
        let header: Value = serde_json::from_slice(&reply[8..]).unwrap();
        let ends =
            header.as_object().unwrap().values().filter_map(|tensor| tensor["data_offsets"][1].as_u64());
        let start = reply.len();
        reply.resize(start + ends.max().unwrap_or(0) as usize, 0);
        stdout.read_exact(&mut reply[start..]).unwrap();
        reply
    }

    fn end(self) -> Output {
        self.child.wait_with_output().unwrap()
    }
}

#[test]
fn a_stream_keeps_its_state_until_it_is_reset() {
    let mut stream = Stream::start(&[&fixture("counter-shared.pte")]);
    let first = stream.ask(&count(&[], [1.0; 4], 0));
    assert_eq!(f32s(&first, "0"), FIRST);
    assert!(facts(&first)["ms"].parse::<f64>().unwrap() > 0.0);
    assert_eq!(f32s(&stream.ask(&count(&[("method", "forward")], [1.0; 4], 1)), "0"), SECOND);
    // Its own memory: it does not see what the other method wrote.
    let read = stream.ask(&document(&[("method", "read")], &[]));
    assert_eq!((f32s(&read, "0"), f32s(&read, "1")), (vec![0.0; 4], vec![1.0, 2.0, 3.0, 4.0]));
    stream.ask(&document(&[("do", "reset"), ("method", "read")], &[]));
    assert_ne!(f32s(&stream.ask(&count(&[], [1.0; 4], 2)), "0"), FIRST);
    assert!(facts(&stream.ask(&document(&[("do", "reset")], &[]))).is_empty());
    assert_eq!(f32s(&stream.ask(&count(&[], [1.0; 4], 0)), "0"), FIRST);

    let report = facts(&stream.ask(&document(&[("do", "report")], &[])))["report"].clone();
    let report: Value = serde_json::from_str(&report).unwrap();
    let calls: Vec<_> = report["methods"].as_array().unwrap().iter().map(|method| &method["calls"]).collect();
    assert_eq!(calls, [4, 1]);
    let output = stream.end();
    assert!(output.status.success() && output.stdout.is_empty(), "{}", stderr(&output));
}

#[test]
fn methods_share_their_state_if_asked_to() {
    let mut stream = Stream::start(&[&fixture("counter-shared.pte"), "--share", "forward,read"]);
    assert_eq!(f32s(&stream.ask(&count(&[], [1.0; 4], 0)), "0"), FIRST);
    let read = |stream: &mut Stream| {
        let read = stream.ask(&document(&[("method", "read")], &[]));
        (f32s(&read, "0"), f32s(&read, "1"))
    };
    assert_eq!(read(&mut stream), (vec![1.0; 4], vec![1.0, 1.5, 2.0, 2.5]));
    stream.ask(&document(&[("do", "reset"), ("method", "read")], &[]));
    assert_eq!(read(&mut stream), (vec![0.0; 4], vec![1.0, 2.0, 3.0, 4.0]));
    assert_eq!(f32s(&stream.ask(&count(&[], [1.0; 4], 0)), "0"), FIRST);
    assert!(stream.end().status.success());
    let program = fixture("multi.pte");
    let said = failure(&[&program, "--share", "forward,twice"]);
    assert!(said.contains("do not share their state"), "{said}");
}

#[test]
fn a_stream_goes_on_after_a_call_that_fails() {
    let mut stream = Stream::start(&[&fixture("counter.pte")]);
    stream.ask(&count(&[], [1.0; 4], 0));
    let mut refused = |request: &[u8], why: &str| {
        let facts = facts(&stream.ask(request));
        assert!(facts["error"].contains(why) && !facts["hint"].is_empty(), "{facts:?}");
    };
    refused(&count(&[("method", "backward")], [1.0; 4], 0), "no method `backward`");
    refused(&document(&[], &[]), "takes 2 inputs, 0");
    refused(&document(&[], &[Tensor::I64(&[1], &[0]), Tensor::I64(&[1], &[0])]), "takes f32, i64 was given");
    refused(&document(&[], &[Tensor::F32(&[5], &[0.0; 5]), Tensor::I64(&[1], &[0])]), "[5]");
    refused(&document(&[("do", "nothing")], &[]), "`do` is `nothing`");
    assert_eq!(f32s(&stream.ask(&count(&[], [1.0; 4], 1)), "0"), SECOND);
    // What is no document at all ends it: nobody knows where the next one would begin.
    let Stream { mut child } = stream;
    child.stdin.take().unwrap().write_all(b"no document, but more than eight bytes").unwrap();
    let output = child.wait_with_output().unwrap();
    assert_eq!(output.status.code(), Some(1));
    assert!(stderr(&output).contains("stdin: it does not begin with the length of a safetensors header"));
}

#[test]
fn files_that_are_no_inputs_are_refused() {
    let folder = tempfile::tempdir().unwrap();
    let program = fixture("counter.pte");
    let refused = |name: &str, bytes: &[u8], why: &str| {
        let said = failure(&[&program, &write(folder.path(), name, bytes)]);
        assert!(said.contains(why) && said.contains(name), "{said}");
    };
    let good = count(&[], [1.0; 4], 0);
    refused("empty", b"", "it is empty");
    refused("short", b"12", "ends within a header");
    refused("long", &u64::MAX.to_le_bytes(), "length of a safetensors header");
    refused("header", &good[..20], "ends within its header");
    refused("cut", &good[..good.len() - 1], "ends within its tensors");
    refused("more", &[good, vec![0]].concat(), "it goes on after its tensors");
    let claims = br#"{"0":{"dtype":"U8","shape":[9999999999],"data_offsets":[0,9999999999]}}"#;
    let claims = [&(claims.len() as u64).to_le_bytes()[..], claims].concat();
    refused("claims", &claims, "at most 1073741824 are taken");
    let odd = br#"{"0":{"dtype":"U8","shape":[2],"data_offsets":[0,3]}}abc"#;
    let odd = [&(odd.len() as u64 - 3).to_le_bytes()[..], odd].concat();
    refused("odd", &odd, "error: ");
    let view = TensorView::new(Dtype::F32, vec![1], &[0; 4]).unwrap();
    refused("names", &serialize([("x", view)], None).unwrap(), "no tensor `0`; it has x");
    let view = TensorView::new(Dtype::F8_E4M3, vec![4], &[0; 4]).unwrap();
    refused("type", &serialize([("0", view)], None).unwrap(), "which no input can be");
    assert!(failure(&[&program, "none.safetensors"]).contains("none.safetensors"));
    assert!(failure(&["none.pte"]).contains("none.pte"));
    assert!(failure(&[&program, "--memory-budget", "10"]).contains("the budget is 10"));
    let both = call(&[&program, "--stream", "--json"]);
    assert_eq!(both.status.code(), Some(2));
}
