//! Tokens and texts are those of `transformers`.
//!
//! `reference/tokens.py` makes a folder for each tokenizer, with the file itself and `lines.jsonl`. The lines of two that
//! are in the repository are kept beside it; those of others are compared where `NEARSIDE_TOKENIZER_REFERENCES` names the
//! folder of such folders.

use nearside_language::{EncodeOptions, Tokenizer};
use serde::Deserialize;
use std::fs;
use std::path::Path;

/// A text, its tokens and their texts, as `transformers` has them.
#[derive(Deserialize)]
struct Line {
    text: String,
    /// Special tokens in the text are tokens, and others are put around it.
    parsed: Vec<u32>,
    /// Special tokens in the text are text, and none are added.
    plain: Vec<u32>,
    decoded: String,
    shown: String,
}

#[test]
fn a_tokenizer_of_words_has_the_tokens_and_the_text_of_transformers() {
    compare(
        "../../models/all-minilm-l6-v2.nearside/tokenizer.json",
        "tests/reference/lines/all-minilm.jsonl",
    );
}

#[test]
fn a_tokenizer_of_bytes_has_the_tokens_and_the_text_of_transformers() {
    compare("tests/tokenizers/tokenizer.json", "tests/reference/lines/tiny.jsonl");
}

#[test]
#[ignore = "needs references that reference/tokens.py makes of tokenizers that are not in the repository"]
fn every_line_has_the_tokens_and_the_text_of_transformers() {
    let folder = std::env::var_os("NEARSIDE_TOKENIZER_REFERENCES")
        .expect("NEARSIDE_TOKENIZER_REFERENCES should name the folder of references");
    let mut tokenizers = 0;
    for entry in fs::read_dir(folder).unwrap() {
        let folder = entry.unwrap().path();
        compare(folder.join("tokenizer"), folder.join("lines.jsonl"));
        tokenizers += 1;
    }
    assert!(tokenizers > 0, "the folder is empty");
}

fn compare(tokenizer: impl AsRef<Path>, lines: impl AsRef<Path>) {
    let started = std::time::Instant::now();
    let place = lines.as_ref().display();
    let tokenizer = Tokenizer::open(tokenizer).unwrap();
    let opened = started.elapsed();
    let lines = fs::read_to_string(&lines).unwrap();
    let (mut compared, mut wrong) = (0, Vec::new());
    for line in lines.lines() {
        let line: Line = serde_json::from_str(line).unwrap();
        compared += 1;
        let encode = |special| {
            let options = EncodeOptions { add_special: special, parse_special: special };
            tokenizer.encode(&line.text, options).unwrap()
        };
        let same = encode(true) == line.parsed
            && encode(false) == line.plain
            && tokenizer.decode(&line.parsed, false).unwrap() == line.decoded
            && tokenizer.decode(&line.parsed, true).unwrap() == line.shown;
        if !same {
            wrong.push(format!(
                "{:?}\n  {:?}\n  {:?}\n  {:?}\n  {:?}\n  {:?} {:?}",
                line.text,
                encode(true),
                line.parsed,
                encode(false),
                line.plain,
                tokenizer.decode(&line.parsed, false).unwrap(),
                line.decoded,
            ));
        }
    }
    println!("{place}: {compared} lines in {:?}, opened in {opened:?}", started.elapsed());
    assert!(compared > 0, "{place} has no line");
    let first = &wrong[..wrong.len().min(5)];
    assert!(wrong.is_empty(), "{place}: {} of {compared} lines differ: {}", wrong.len(), first.join("\n"));
}
