//! Tokens and texts are those of `transformers`.
//!
//! `reference/tokens.py` makes a folder for each tokenizer, with the file itself and `lines.jsonl`, and
//! `NEARSIDE_TOKENIZER_REFERENCES` names the folder of these.

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
#[ignore = "needs references that reference/tokens.py makes of tokenizers that are not in the repository"]
fn every_line_has_the_tokens_and_the_text_of_transformers() {
    let folder = std::env::var_os("NEARSIDE_TOKENIZER_REFERENCES")
        .expect("NEARSIDE_TOKENIZER_REFERENCES should name the folder of references");
    let mut tokenizers = 0;
    for entry in fs::read_dir(folder).unwrap() {
        compare(&entry.unwrap().path());
        tokenizers += 1;
    }
    assert!(tokenizers > 0, "the folder is empty");
}

fn compare(folder: &Path) {
    let started = std::time::Instant::now();
    let tokenizer = Tokenizer::open(folder.join("tokenizer")).unwrap();
    let opened = started.elapsed();
    let lines = fs::read_to_string(folder.join("lines.jsonl")).unwrap();
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
    println!("{}: {compared} lines in {:?}, opened in {opened:?}", folder.display(), started.elapsed());
    let first = &wrong[..wrong.len().min(5)];
    assert!(
        wrong.is_empty(),
        "{}: {} of {compared} lines differ: {}",
        folder.display(),
        wrong.len(),
        first.join("\n")
    );
}
