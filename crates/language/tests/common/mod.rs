//! Tokenizers small enough to be written here, one of each kind.
#![allow(missing_docs, dead_code)]

use nearside_language::Tokenizer;
use serde_json::{Map, Value, json};

/// Special ones of [`byte_level`], in the order of their ids; the last is only an added token, not a special one.
pub(crate) const SPECIALS: [&str; 4] = ["<|im_start|>", "<|im_end|>", "[TOOL_CALLS]", "<tool_call>"];

const WORDS: [&str; 48] = [
    " the", " and", "hello", " world", "{\"", "\":", "\": ", "\", \"", "\"}", "\"}]", "}}", "[{\"", "]}",
    ", ", "null", "true", "false", "name", "value", "12", "345", "0.", "-1", "ab", "abc", "bcd", "xyz",
    "stop", " stop", "STOP", "top", "st", "\n\n", "\\n", "\\\"", "://", "()", "[]", "{}", "\"\"", "é", "ü",
    "日本", "語", "🙂", "👩", "ße", "e\"",
];

/// The kind of GPT-2, Llama 3, Qwen and SmolLM2: a character a byte.
pub(crate) fn byte_level() -> Tokenizer {
    let mut tokens: Vec<String> = (0..=u8::MAX).map(|byte| spell(&[byte])).collect();
    tokens.extend(WORDS.iter().map(|word| spell(word.as_bytes())));
    // Characters cut in the middle.
    for parts in ["🙂".as_bytes(), "語é".as_bytes()] {
        tokens.extend([1, 2, 3].iter().flat_map(|&at| [spell(&parts[..at]), spell(&parts[at..])]));
    }
    tokens.sort();
    tokens.dedup();
    read(
        &tokens,
        &SPECIALS,
        json!({"type": "ByteLevel", "add_prefix_space": false, "trim_offsets": true, "use_regex": true}),
    )
}

/// The kind of Llama 2 (`strips`) and Gemma: `▁` for a space, `<0xNN>` for a byte.
pub(crate) fn sentence_piece(strips: bool) -> Tokenizer {
    let mut tokens: Vec<String> = (0..=u8::MAX).map(|byte| format!("<0x{byte:02X}>")).collect();
    tokens.extend((0x20..0x7f_u8).map(|byte| char::from(byte).to_string().replace(' ', "▁")));
    tokens.extend(WORDS.iter().map(|word| word.replace(' ', "▁")));
    tokens.extend(["▁▁", "▁hello", "\n"].map(str::to_owned));
    tokens.sort();
    tokens.dedup();
    let mut decoders = vec![
        json!({"type": "Replace", "pattern": {"String": "▁"}, "content": " "}),
        json!({"type": "ByteFallback"}),
        json!({"type": "Fuse"}),
    ];
    if strips {
        decoders.push(json!({"type": "Strip", "content": " ", "start": 1, "stop": 0}));
    }
    read(&tokens, &["<s>", "</s>"], json!({"type": "Sequence", "decoders": decoders}))
}

fn read(tokens: &[String], added: &[&str], decoder: Value) -> Tokenizer {
    let vocab: Map<String, Value> =
        tokens.iter().zip(0..).map(|(token, id)| (token.clone(), json!(id))).collect();
    let first = tokens.len();
    let added: Vec<Value> = added
        .iter()
        .enumerate()
        .map(|(at, content)| {
            json!({"id": first + at, "content": content, "single_word": false, "lstrip": false, "rstrip": false,
                "normalized": false, "special": *content != "<tool_call>"})
        })
        .collect();
    let file = json!({
        "version": "1.0", "truncation": null, "padding": null, "added_tokens": added, "normalizer": null,
        "pre_tokenizer": null, "post_processor": null, "decoder": decoder,
        "model": {"type": "BPE", "dropout": null, "unk_token": null, "continuing_subword_prefix": null,
            "end_of_word_suffix": null, "fuse_unk": false, "byte_fallback": true, "vocab": vocab, "merges": []},
    });
    Tokenizer::from_bytes(file.to_string().as_bytes(), "tokenizer.json").unwrap()
}

/// GPT-2's characters for bytes.
fn spell(bytes: &[u8]) -> String {
    let printable = |byte: u8| matches!(byte, 0x21..=0x7e | 0xa1..=0xac | 0xae..=0xff);
    let character = |byte: u8| {
        let before = (0..byte).filter(|&other| !printable(other)).count() as u32;
        let number = if printable(byte) { u32::from(byte) } else { 256 + before };
        char::from_u32(number).unwrap()
    };
    bytes.iter().map(|&byte| character(byte)).collect()
}

/// Numbers that look random and are the same each time.
pub(crate) struct Numbers(pub(crate) u64);

impl Numbers {
    pub(crate) fn below(&mut self, bound: usize) -> usize {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) as usize % bound
    }

    pub(crate) fn chance(&mut self, percent: usize) -> bool {
        self.below(100) < percent
    }

    pub(crate) fn uniform(&mut self) -> f32 {
        self.below(1 << 24) as f32 / (1 << 24) as f32
    }
}
