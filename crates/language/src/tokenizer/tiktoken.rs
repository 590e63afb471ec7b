//! tiktoken's files: a line for each token, its bytes in base64 and its rank.

use super::byte_level::Ranked;
use super::pipeline::{self, Added, Around, damaged};
use super::{Parts, base64};
use crate::error::Result;
use serde_json::json;

/// Longer tokens are no words: 128 bytes are the longest of the published vocabularies.
const LONGEST_TOKEN: usize = 1 << 10;

/// What a tiktoken file doesn't say of its tokenizer.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct TiktokenOptions {
    /// The regular expression whose matches are the words of a text.
    pub pattern: String,
    /// The special tokens; their ids follow the last rank.
    pub special: Vec<String>,
    /// The special token that each text begins with.
    pub bos: Option<String>,
    /// The special tokens with which texts end.
    pub eos: Vec<String>,
}

impl TiktokenOptions {
    /// Those of a tokenizer with its pattern and special tokens, none of which begins or ends texts.
    pub fn new(pattern: &str, special: Vec<String>) -> Self {
        Self { pattern: pattern.to_owned(), special, bos: None, eos: Vec::new() }
    }

    /// Those of Llama 3, 3.1, 3.2 and 3.3 (meta-llama/llama-models, `models/llama3/tokenizer.py`).
    pub fn llama3() -> Self {
        let named = [
            "<|begin_of_text|>",
            "<|end_of_text|>",
            "<|reserved_special_token_0|>",
            "<|reserved_special_token_1|>",
            "<|finetune_right_pad_id|>",
            "<|step_id|>",
            "<|start_header_id|>",
            "<|end_header_id|>",
            "<|eom_id|>",
            "<|eot_id|>",
            "<|python_tag|>",
            "<|image|>",
        ];
        let reserved =
            (2..256 - named.len() + 2).map(|number| format!("<|reserved_special_token_{number}|>"));
        Self {
            pattern: LLAMA3_PATTERN.to_owned(),
            special: named.map(str::to_owned).into_iter().chain(reserved).collect(),
            bos: Some(named[0].to_owned()),
            eos: ["<|end_of_text|>", "<|eom_id|>", "<|eot_id|>"].map(str::to_owned).into(),
        }
    }
}

/// The words of Llama 3.
pub(super) const LLAMA3_PATTERN: &str = r"(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}{1,3}| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+";

/// Whether the file begins as tiktoken's do.
pub(super) fn is_one(contents: &[u8]) -> bool {
    let line = contents.split(|&byte| byte == b'\n').next().unwrap_or_default();
    line.len() < 4 * LONGEST_TOKEN && entry(line).is_some()
}

/// Reads the file.
pub(super) fn read(contents: &[u8], options: &TiktokenOptions, name: &str) -> Result<Parts> {
    let ranked = Ranked { tokens: tokens(contents, name)? };
    let model = ranked.model(name)?;
    let around = Around {
        pre_tokenizer: json!({"type": "Sequence", "pretokenizers": [
            {"type": "Split", "pattern": {"Regex": options.pattern}, "behavior": "Isolated", "invert": false},
            {"type": "ByteLevel", "add_prefix_space": false, "trim_offsets": false, "use_regex": false},
        ]}),
        decoder: json!({"type": "ByteLevel", "add_prefix_space": true, "trim_offsets": true, "use_regex": true}),
        ..Around::default()
    };
    let added = options.special.iter().map(|text| Added { text: text.clone(), special: true }).collect();
    let mut inner = pipeline::assemble(model, around, added, name)?;
    let id = |text: &String| {
        inner.token_to_id(text).ok_or_else(|| damaged(name, format!("it has no token {text:?}")))
    };
    let bos = options.bos.as_ref().map(id).transpose()?;
    let eos = options.eos.iter().map(id).collect::<Result<_>>()?;
    pipeline::surround(&mut inner, bos, None, name)?;
    Ok(Parts { bos, eos, ..Parts::of(inner, name)? })
}

/// The tokens by rank, of which none may be missing.
fn tokens(contents: &[u8], name: &str) -> Result<Vec<Vec<u8>>> {
    let mut tokens: Vec<Option<Vec<u8>>> = Vec::new();
    let most = contents.len() / 4 + 1;
    let mut seen = std::collections::HashSet::new();
    for (number, line) in contents.split(|&byte| byte == b'\n').enumerate() {
        let line = line.strip_suffix(b"\r").unwrap_or(line);
        if line.is_empty() {
            continue;
        }
        let bad = |what: &str| damaged(name, format!("line {} {what}", number + 1));
        let (token, rank) = entry(line).ok_or_else(|| bad("is not a token in base64 and its rank"))?;
        if token.is_empty() || token.len() > LONGEST_TOKEN {
            return Err(bad("has an empty token, or one that is too long"));
        }
        if rank >= most {
            return Err(bad("has a rank beyond the number of lines"));
        }
        if tokens.len() <= rank {
            tokens.resize(rank + 1, None);
        }
        if tokens[rank].is_some() || !seen.insert(token.clone()) {
            return Err(bad("has a token or a rank that was there before"));
        }
        tokens[rank] = Some(token);
    }
    let missing = tokens.iter().position(Option::is_none);
    if let Some(rank) = missing {
        return Err(damaged(name, format!("the rank {rank} is missing")));
    }
    for byte in 0..=u8::MAX {
        if !seen.contains(&[byte][..]) {
            return Err(damaged(
                name,
                format!("the byte {byte:#04x} has no token, so that not all texts have"),
            ));
        }
    }
    Ok(tokens.into_iter().flatten().collect())
}

fn entry(line: &[u8]) -> Option<(Vec<u8>, usize)> {
    let line = line.strip_suffix(b"\r").unwrap_or(line);
    let space = line.iter().position(|&byte| byte == b' ')?;
    let rank = std::str::from_utf8(&line[space + 1..]).ok()?.parse().ok()?;
    Some((base64::decode(&line[..space])?, rank))
}
