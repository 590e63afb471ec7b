//! How GGUF's byte-level tokenizers cut a text into words: `tokenizer.ggml.pre` names it (ggml-org/llama.cpp,
//! `convert_hf_to_gguf_update.py`), and the model's own `tokenizer.json` says how.

use super::super::tiktoken::LLAMA3_PATTERN;
use serde_json::{Value, json};

/// A way to cut texts.
pub(super) struct Words {
    pub(super) normalizer: Value,
    pub(super) pre_tokenizer: Value,
    /// Words that are tokens are not merged of others.
    pub(super) whole_words_first: bool,
    /// Whether texts begin with a token unless the file says otherwise.
    pub(super) begins: bool,
}

impl Words {
    /// The way called `name`; `None` if it is not known.
    pub(super) fn named(name: &str) -> Option<Self> {
        let nothing = Value::Null;
        let words = |normalizer, pre_tokenizer| {
            Some(Self { normalizer, pre_tokenizer, whole_words_first: false, begins: false })
        };
        match name {
            "gpt-2" | "gpt2" | "phi-2" | "mpt" | "olmo" | "roberta-bpe" | "default" => words(nothing, gpt2()),
            "smollm" | "starcoder" | "refact" | "command-r" | "codeshell" | "exaone" | "minerva-7b" => {
                let digits = json!({"type": "Digits", "individual_digits": true});
                words(nothing, json!({"type": "Sequence", "pretokenizers": [digits, gpt2()]}))
            }
            "qwen2" | "stablelm2" | "deepseek-r1-qwen" | "hunyuan" => {
                let normalizer = if name == "stablelm2" { nothing } else { json!({"type": "NFC"}) };
                words(normalizer, split(QWEN2))
            }
            "llama-bpe" | "llama3" | "llama-v3" | "falcon3" | "pixtral" | "dbrx" | "smaug-bpe" => {
                Some(Self {
                    normalizer: nothing,
                    pre_tokenizer: split(LLAMA3_PATTERN),
                    whole_words_first: true,
                    begins: true,
                })
            }
            "tekken" => Some(Self {
                normalizer: nothing,
                pre_tokenizer: split(TEKKEN),
                whole_words_first: true,
                begins: true,
            }),
            "gpt-4o" | "llama4" => words(nothing, split(GPT_4O)),
            _ => None,
        }
    }
}

/// By the pattern of GPT-2, which the crate has.
fn gpt2() -> Value {
    json!({"type": "ByteLevel", "add_prefix_space": false, "trim_offsets": true, "use_regex": true})
}

fn split(pattern: &str) -> Value {
    json!({"type": "Sequence", "pretokenizers": [
        {"type": "Split", "pattern": {"Regex": pattern}, "behavior": "Isolated", "invert": false},
        {"type": "ByteLevel", "add_prefix_space": false, "trim_offsets": false, "use_regex": false},
    ]})
}

const QWEN2: &str = r"(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+";

const TEKKEN: &str = r"[^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]*[\p{Ll}\p{Lm}\p{Lo}\p{M}]+|[^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]+[\p{Ll}\p{Lm}\p{Lo}\p{M}]*|\p{N}| ?[^\s\p{L}\p{N}]+[\r\n/]*|\s*[\r\n]+|\s+(?!\S)|\s+";

const GPT_4O: &str = r"[^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]*[\p{Ll}\p{Lm}\p{Lo}\p{M}]+(?i:'s|'t|'re|'ve|'m|'ll|'d)?|[^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]+[\p{Ll}\p{Lm}\p{Lo}\p{M}]*(?i:'s|'t|'re|'ve|'m|'ll|'d)?|\p{N}{1,3}| ?[^\s\p{L}\p{N}]+[\r\n/]*|\s*[\r\n]+|\s+(?!\S)|\s+";
