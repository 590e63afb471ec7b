//! `nearside generate` and `nearside chat` as a user runs them, on tiny models with random weights.
#![allow(missing_docs)]

use serde_json::Value;
use std::io::{BufRead, BufReader, Write};
use std::path::PathBuf;
use std::process::{Command, Output, Stdio};

fn package(name: &str) -> String {
    let fixtures = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../models/fixtures");
    fixtures.join(format!("{name}.nearside")).display().to_string()
}

fn command(args: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_nearside"));
    command.args(args).stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    command
}

fn run(args: &[&str], stdin: &str) -> Output {
    let mut child = command(args).spawn().unwrap();
    child.stdin.take().unwrap().write_all(stdin.as_bytes()).unwrap();
    child.wait_with_output().unwrap()
}

fn lines(output: &Output) -> Vec<Value> {
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let text = String::from_utf8(output.stdout.clone()).unwrap();
    text.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

#[test]
fn an_answer_comes_as_events_with_the_text_and_the_counts() {
    let tiny = package("tiny-qwen3");
    let events = lines(&run(&["generate", &tiny, "hi", "-n", "5", "--json"], ""));
    let last = events.last().unwrap();
    assert_eq!(last["event"], "finished");
    let tokens: Vec<&Value> = events.iter().filter(|event| event["event"] == "token").collect();
    let text: String = tokens.iter().map(|event| event["text"].as_str().unwrap()).collect();
    assert_eq!(last["text"], text);
    let counted = tokens.iter().filter(|event| !event["id"].is_null()).count();
    assert_eq!(last["statistics"]["generated_tokens"], counted);
    assert!(last["statistics"]["peak_resident_bytes"].as_u64().unwrap() > 0);
}

#[test]
fn a_prompt_may_be_words_a_file_or_stdin() {
    let tiny = package("tiny-llama");
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("prompt.txt");
    std::fs::write(&file, "one two").unwrap();
    let file = file.display().to_string();
    let options = ["--raw", "-n", "4", "--json"];
    let ids = |args: &[&str], stdin: &str| -> Vec<Value> {
        let all = [&["generate", &tiny], args, &options].concat();
        lines(&run(&all, stdin)).iter().map(|event| event["id"].clone()).collect()
    };
    let words = ids(&["one", "two"], "");
    assert_eq!(words, ids(&["--file", &file], ""));
    assert_eq!(words, ids(&[], "one two"));
    assert_eq!(words, ids(&["-"], "one two"));
}

#[test]
fn the_same_seed_gives_the_same_text() {
    let tiny = package("tiny-llama");
    let text = |seed: &str| {
        let args = ["generate", &tiny, "hi", "--raw", "-n", "12", "--temperature", "1.5", "--seed", seed];
        run(&args, "").stdout
    };
    assert_eq!(text("7"), text("7"));
    assert_ne!(text("7"), text("8"));
}

#[test]
fn an_answer_can_be_held_to_a_regular_expression() {
    let output = run(&["generate", &package("tiny-llama"), "hi", "--regex", "[0-9]{3}"], "");
    let text = String::from_utf8(output.stdout).unwrap();
    assert!(text.trim().len() == 3 && text.trim().chars().all(|c| c.is_ascii_digit()), "{text:?}");
}

#[test]
fn what_is_wrong_is_said_with_a_hint() {
    let tiny = package("tiny-llama");
    for (args, code, said) in [
        (&["generate", "no-such.nearside", "hi"][..], 1, "no-such.nearside"),
        (&["generate", &package("tiny-classifier"), "hi"], 1, "`generate` is needed"),
        (&["generate", &tiny, "hi", "--top-p", "7"], 1, "top_p"),
        (&["generate", &tiny, "hi", "--json-schema", "{"], 2, "--json-schema"),
        (&["generate", &tiny, "hi", "--prompt-lookup"], 1, "last token only"),
        (&["generate", &tiny, "hi", "--raw", "--system", "x"], 2, "--system"),
    ] {
        let output = run(args, "");
        let error = String::from_utf8(output.stderr).unwrap();
        assert_eq!(output.status.code(), Some(code), "{args:?}: {error}");
        assert!(error.contains(said) && !error.contains("panicked"), "{args:?}: {error}");
    }
}

#[test]
fn a_chat_through_a_pipe_saves_and_goes_on() {
    let tiny = package("tiny-qwen3");
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("a session").display().to_string();
    let talk = format!("hi\n/save {file}\n/stats\n/dance\nyo\n/quit\nnot read\n");
    let events = lines(&run(&["chat", &tiny, "-n", "3", "--json"], &talk));
    let kinds: Vec<&str> =
        events.iter().map(|event| event["event"].as_str().unwrap()).filter(|&kind| kind != "token").collect();
    assert_eq!(kinds, ["finished", "saved", "stats", "error", "finished"]);
    let second = events.last().unwrap();
    assert!(second["statistics"]["reused_tokens"].as_u64().unwrap() > 0);
    let loaded = lines(&run(&["chat", &tiny, "-n", "3", "--json"], &format!("/load {file}\nyo\n")));
    assert_eq!(loaded[0]["event"], "loaded");
    assert_eq!(loaded.last().unwrap()["text"], second["text"]);
    let again =
        lines(&run(&["chat", &tiny, "-n", "3", "--json", "--load", &file], "yo\n/reset\n/system Be.\n"));
    let ended = again.iter().find(|event| event["event"] == "finished").unwrap();
    assert_eq!(ended["text"], second["text"]);
    assert_eq!(again.last().unwrap()["event"], "system");
}

/// Interrupts the first answer of a chat once it has begun. None if it had ended by itself before.
#[cfg(unix)]
fn interrupted() -> Option<()> {
    let mut child =
        command(&["chat", &package("tiny-llama"), "--json", "--regex", "[a-z]{2000}"]).spawn().unwrap();
    let mut stdin = child.stdin.take().unwrap();
    let mut events = BufReader::new(child.stdout.take().unwrap()).lines();
    let mut next = || -> Value {
        events.next().map_or(Value::Null, |line| serde_json::from_str(&line.unwrap()).unwrap())
    };
    writeln!(stdin, "hi").unwrap();
    assert_eq!(next()["event"], "token");
    let interrupt = Command::new("kill").args(["-INT", &child.id().to_string()]).status().unwrap();
    assert!(interrupt.success());
    let end = loop {
        let event = next();
        if event["event"] == "finished" || event.is_null() {
            break event;
        }
    };
    if end["reason"] != "cancelled" {
        // Nothing was left to stop, so that the chat ends as other programs do.
        drop(stdin);
        assert_eq!(child.wait().unwrap().code(), Some(130));
        return None;
    }
    writeln!(stdin, "/stats").unwrap();
    assert_eq!(next()["event"], "stats");
    drop(stdin);
    assert!(child.wait().unwrap().success());
    Some(())
}

#[cfg(unix)]
#[test]
fn an_interrupt_stops_the_answer_and_not_the_chat() {
    // The tiny model is done in no time: it has to be caught.
    assert!((0..60).any(|_| interrupted().is_some()));
}
