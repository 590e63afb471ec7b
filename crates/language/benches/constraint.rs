//! Time of a constraint's mask and of making its compiler ready, over 49 152 made-up tokens, or those of the tokenizer
//! that `NEARSIDE_TOKENIZER` names.

use divan::Bencher;
use nearside_language::{Constraint, Grammar, GrammarCompiler, Tokenizer};
use serde_json::{Map, Value, json};

fn main() {
    divan::main();
}

fn tokenizer() -> Tokenizer {
    match std::env::var_os("NEARSIDE_TOKENIZER") {
        Some(path) => Tokenizer::open(path).unwrap(),
        None => made_up(),
    }
}

/// Single characters, then words of 2 to 9 letters, some with a space, a quote or a digit.
fn made_up() -> Tokenizer {
    let mut tokens: Vec<String> = (' '..='~').map(String::from).collect();
    let mut state = 1_u32;
    let mut below = |bound: u32| {
        state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
        (state >> 8) % bound
    };
    while tokens.len() < 60_000 {
        let mut word = String::from(["", "", "▁", "▁", "\"", "\\", "\":"][below(7) as usize]);
        for _ in 0..2 + below(8) {
            word.push(char::from(b"etaoinshrdlucmfwypvbgkqjxz0123456789"[below(36) as usize]));
        }
        tokens.push(word);
    }
    tokens.sort();
    tokens.dedup();
    tokens.truncate(49_151);
    tokens.push("</s>".into());
    let vocab: Map<String, Value> =
        tokens.into_iter().zip(0..).map(|(token, id)| (token, json!(id))).collect();
    let end = vocab.len() - 1;
    let file = json!({
        "version": "1.0",
        "added_tokens": [{"id": end, "content": "</s>", "single_word": false, "lstrip": false, "rstrip": false,
            "normalized": false, "special": true}],
        "decoder": {"type": "Sequence", "decoders": [
            {"type": "Replace", "pattern": {"String": "▁"}, "content": " "}, {"type": "ByteFallback"}, {"type": "Fuse"}]},
        "model": {"type": "BPE", "vocab": vocab, "merges": []},
    });
    Tokenizer::from_bytes(file.to_string().as_bytes(), "made up").unwrap()
}

fn compiler(tokenizer: &Tokenizer) -> GrammarCompiler {
    let end = ["</s>", "<|im_end|>", "<|endoftext|>"].iter().find_map(|end| tokenizer.id_of(end));
    GrammarCompiler::new(tokenizer, &[end.unwrap()]).unwrap()
}

fn schema() -> Grammar {
    Grammar::JsonSchema(json!({"type": "object", "properties": {
        "name": {"type": "string", "maxLength": 40},
        "age": {"type": "integer", "minimum": 0, "maximum": 150},
        "tags": {"type": "array", "items": {"enum": ["red", "green", "blue"]}},
        "note": {"type": "string"}},
        "required": ["name", "age", "tags", "note"], "additionalProperties": false}))
}

/// The constraint after `text`, a character a token.
fn after(tokenizer: &Tokenizer, text: &str) -> Constraint {
    let mut constraint = compiler(tokenizer).compile(&schema()).unwrap();
    for byte in text.bytes() {
        let token = (0..tokenizer.vocab_size() as u32)
            .find(|&id| tokenizer.token_bytes(id) == Some(&[byte]) && !tokenizer.is_special(id));
        constraint.accept(token.unwrap()).unwrap();
    }
    constraint
}

/// Places in an answer: its beginning, within a bounded string, a number, an enum, an unbounded string.
const PLACES: [&str; 5] = [
    "",
    r#"{"name":"An"#,
    r#"{"name":"An","age":4"#,
    r#"{"name":"An","age":4,"tags":["#,
    r#"{"name":"An","age":4,"tags":[],"note":"so"#,
];

/// Each mask is the first of its place in a fresh copy, as no place comes twice in an answer.
#[divan::bench(args = PLACES, sample_count = 50)]
fn mask(bencher: Bencher<'_, '_>, place: &str) {
    let tokenizer = tokenizer();
    let constraint = after(&tokenizer, place);
    bencher
        .with_inputs(|| constraint.clone())
        .bench_local_values(|mut constraint| constraint.mask().unwrap().count());
}

#[divan::bench(sample_count = 20)]
fn compile(bencher: Bencher<'_, '_>) {
    let tokenizer = tokenizer();
    let compiler = compiler(&tokenizer);
    bencher.bench_local(|| compiler.compile(&schema()).unwrap());
}

#[divan::bench(sample_count = 5)]
fn make_ready(bencher: Bencher<'_, '_>) {
    let tokenizer = tokenizer();
    bencher.bench_local(|| compiler(&tokenizer));
}
