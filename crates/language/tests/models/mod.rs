//! Tiny models with random weights, of `nearside-export generate`, and sessions on them.
#![allow(missing_docs, dead_code, unreachable_pub)] // each test binary uses a part

use nearside_language::{
    Cancellation, ChatTemplate, Decoder, DecoderFacts, Error, Event, Finished, LanguageModel, Prompt,
    Request, Session, Sliding, SpecialTokens, Tokenizer,
};
use nearside_runtime::{LoadMode, LoadOptions, Program};
use serde_json::Value;
use std::path::PathBuf;

/// Tokens that the models' caches hold, and take a call.
pub const CONTEXT: usize = 96;
pub const CHUNK: usize = 16;

pub fn package(name: &str) -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join(format!("../../models/fixtures/{name}.nearside"))
}

fn manifest(name: &str) -> Value {
    serde_json::from_str(&std::fs::read_to_string(package(name).join("manifest.json")).unwrap()).unwrap()
}

pub fn program(name: &str) -> Program {
    let file = manifest(name)["variants"][0]["program"]["path"].as_str().unwrap().to_owned();
    Program::open(package(name).join(file), LoadMode::Mmap).unwrap()
}

pub fn facts(name: &str) -> DecoderFacts {
    let generation = &manifest(name)["generation"];
    let number = |field: &str| generation[field].as_u64().map(|number| number as usize);
    DecoderFacts {
        context_length: number("context_length").unwrap(),
        max_prefill_tokens: number("max_prefill_tokens").unwrap(),
        vocab_size: number("vocab_size").unwrap(),
        bos_id: number("bos_id").map(|id| id as u32),
        eos_ids: generation["eos_ids"]
            .as_array()
            .unwrap()
            .iter()
            .map(|id| id.as_u64().unwrap() as u32)
            .collect(),
        add_bos: generation["add_bos"].as_bool().unwrap(),
        sliding: number("sliding_window").map(|window| Sliding { window, slots: number("sliding_slots") }),
    }
}

pub fn decoder(name: &str) -> Decoder {
    Decoder::load(&program(name), facts(name), &LoadOptions::default()).unwrap()
}

pub fn tokenizer(name: &str) -> Tokenizer {
    Tokenizer::open(package(name).join("tokenizer.json")).unwrap()
}

pub fn model(name: &str) -> LanguageModel {
    let source = std::fs::read_to_string(package(name).join("chat_template.jinja")).unwrap();
    let tokenizer = tokenizer(name);
    let bos = facts(name)
        .bos_id
        .and_then(|id| tokenizer.token_bytes(id).map(|bytes| String::from_utf8(bytes.to_vec()).unwrap()));
    let template = ChatTemplate::new(&source, SpecialTokens { bos, ..SpecialTokens::default() }).unwrap();
    LanguageModel::new(decoder(name), tokenizer, Some(template)).unwrap()
}

/// Grouped queries, all positions kept.
pub const LLAMA: &str = "tiny-llama";
/// `prefill` and `decode`.
pub const QWEN3: &str = "tiny-qwen3";
/// A window of 8 positions in rings of 24.
pub const GEMMA3: &str = "tiny-gemma3-text";
/// The logits of each row.
pub const ROWS: &str = "tiny-llama-rows";

pub const ALL: [&str; 4] = [LLAMA, QWEN3, GEMMA3, ROWS];

/// A greedy request of so many tokens. Random weights end an answer at any time: that is not looked at.
pub fn request(prompt: Prompt, tokens: usize) -> Request {
    Request { max_new_tokens: Some(tokens), ignore_end: true, ..Request::new(prompt) }
}

/// So many tokens of no meaning.
pub fn prompt(length: usize) -> Prompt {
    Prompt::Tokens((0..length as u32).map(|at| 10 + at * 7 % 300).collect())
}

/// What an answer told, besides its end.
#[derive(Debug, Default, Clone, PartialEq)]
pub struct Told {
    pub ids: Vec<u32>,
    pub text: String,
    pub full: Vec<nearside_language::ContextFull>,
    pub ends: usize,
}

impl Told {
    pub fn hear(&mut self, event: &Event<'_>) {
        match event {
            Event::Token { id, text } => {
                self.ids.extend(*id);
                self.text.push_str(text);
            }
            Event::ContextFull(full) => self.full.push(*full),
            Event::Finished(_) => self.ends += 1,
            _ => {}
        }
    }
}

pub fn answer(model: &mut LanguageModel, session: &mut Session, request: &Request) -> (Told, Finished) {
    try_answer(model, session, request, &Cancellation::new()).unwrap()
}

pub fn try_answer(
    model: &mut LanguageModel,
    session: &mut Session,
    request: &Request,
    cancellation: &Cancellation,
) -> Result<(Told, Finished), Error> {
    let mut told = Told::default();
    let finished = session.generate(model, request, cancellation, &mut |event| told.hear(&event))?;
    assert_eq!(told.text, finished.text);
    assert_eq!(told.ends, 1);
    assert_eq!(told.ids.len(), finished.statistics.generated_tokens);
    Ok((told, finished))
}

/// The tokens of a greedy answer in a session of its own.
pub fn greedy(model: &mut LanguageModel, prompt: Prompt, tokens: usize) -> Vec<u32> {
    answer(model, &mut Session::new(), &request(prompt, tokens)).0.ids
}
