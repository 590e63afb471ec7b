//! The tokenizer in a GGUF file: `tokenizer.ggml.*`.

mod metadata;
mod words;

use super::Parts;
use super::byte_level;
use super::pieces::{self, Algorithm, Kind, Piece, Settings};
use super::pipeline::{self, Added, Around, damaged};
use crate::error::Result;
use metadata::Metadata;
use serde_json::json;
use std::collections::HashMap;
use words::Words;

/// Whether the file begins as GGUF does.
pub(super) fn is_one(contents: &[u8]) -> bool {
    contents.starts_with(b"GGUF")
}

/// Reads the file, or its beginning up to the end of the metadata.
pub(super) fn read(contents: &[u8], name: &str) -> Result<Parts> {
    let metadata = Metadata::read(contents, name)?;
    let tokens = metadata
        .texts("ggml.tokens")
        .filter(|tokens| !tokens.is_empty())
        .ok_or_else(|| damaged(name, "it has no `tokenizer.ggml.tokens`"))?;
    let kinds = kinds(&metadata, tokens.len(), name)?;
    let kind = metadata.text("ggml.model").unwrap_or_default();
    let (mut inner, begins, ends) = match kind {
        "gpt2" => byte_pairs(&metadata, tokens, &kinds, name)?,
        "llama" | "t5" => scored(&metadata, tokens, &kinds, kind, name)?,
        other => {
            let reason = format!("its tokenizer is of the kind {other:?}; gpt2, llama and t5 can be read");
            return Err(damaged(name, reason));
        }
    };
    let id = |key: &str| {
        let id = metadata.number(key).and_then(|id| u32::try_from(id).ok());
        id.filter(|&id| (id as usize) < tokens.len())
    };
    let bos = id("ggml.bos_token_id");
    let mut eos: Vec<u32> = Vec::new();
    for key in ["ggml.eos_token_id", "ggml.eot_token_id", "ggml.eom_token_id"] {
        eos.extend(id(key).filter(|id| !eos.contains(id)));
    }
    let before = bos.filter(|_| metadata.flag("ggml.add_bos_token").unwrap_or(begins));
    let after = eos.first().copied().filter(|_| metadata.flag("ggml.add_eos_token").unwrap_or(ends));
    pipeline::surround(&mut inner, before, after, name)?;
    let template = metadata.text("chat_template").map(str::to_owned);
    Ok(Parts { bos, eos, template, ..Parts::of(inner, name)? })
}

/// The tokenizer, and whether tokens are put before and after texts unless the file says otherwise.
type Read = (tokenizers::Tokenizer, bool, bool);

fn kinds(metadata: &Metadata, count: usize, name: &str) -> Result<Vec<Kind>> {
    let Some(numbers) = metadata.numbers("ggml.token_type") else {
        return Ok(vec![Kind::Normal; count]);
    };
    let kinds: Option<Vec<Kind>> =
        numbers.iter().map(|&number| Kind::of(i32::try_from(number).ok()?)).collect();
    kinds
        .filter(|kinds| kinds.len() == count)
        .ok_or_else(|| damaged(name, "`tokenizer.ggml.token_type` does not fit its tokens"))
}

fn byte_pairs(metadata: &Metadata, tokens: &[String], kinds: &[Kind], name: &str) -> Result<Read> {
    let pre = metadata.text("ggml.pre").unwrap_or("default");
    let words = Words::named(pre).ok_or_else(|| {
        damaged(name, format!("it cuts words in the way called {pre:?}, which is not known here"))
    })?;
    let mut merges = Vec::new();
    for merge in metadata.texts("ggml.merges").unwrap_or_default() {
        let (left, right) =
            merge.split_once(' ').ok_or_else(|| damaged(name, format!("{merge:?} is no merge")))?;
        merges.push((left.to_owned(), right.to_owned()));
    }
    let vocabulary: HashMap<String, u32> = tokens.iter().cloned().zip(0..).collect();
    if vocabulary.len() != tokens.len() {
        return Err(damaged(name, "a token is there twice"));
    }
    let model = byte_level::model(vocabulary, merges, words.whole_words_first, name)?;
    let around = Around {
        normalizer: words.normalizer,
        pre_tokenizer: words.pre_tokenizer,
        decoder: json!({"type": "ByteLevel", "add_prefix_space": true, "trim_offsets": true, "use_regex": true}),
    };
    let added = tokens
        .iter()
        .zip(kinds)
        .filter(|(text, kind)| matches!(kind, Kind::Control | Kind::UserDefined) && !text.is_empty())
        .map(|(text, kind)| Added { text: text.clone(), special: *kind == Kind::Control })
        .collect();
    Ok((pipeline::assemble(model, around, added, name)?, words.begins, false))
}

fn scored(metadata: &Metadata, tokens: &[String], kinds: &[Kind], kind: &str, name: &str) -> Result<Read> {
    let scores = metadata
        .floats("ggml.scores")
        .filter(|scores| scores.len() == tokens.len() && scores.iter().all(|score| score.is_finite()))
        .ok_or_else(|| damaged(name, "`tokenizer.ggml.scores` does not fit its tokens"))?;
    let pieces: Vec<Piece> = tokens
        .iter()
        .zip(scores)
        .zip(kinds)
        .map(|((text, &score), &kind)| Piece { text: text.clone(), score, kind })
        .collect();
    let is_unigram = kind == "t5";
    let unk = metadata.number("ggml.unknown_token_id").unwrap_or(0);
    let settings = Settings {
        algorithm: if is_unigram { Algorithm::Unigram } else { Algorithm::MergesByScore },
        unk: u32::try_from(unk).ok().filter(|&unk| (unk as usize) < tokens.len()),
        byte_fallback: kinds.contains(&Kind::Byte),
        charsmap: metadata.bytes("ggml.precompiled_charsmap").unwrap_or_default(),
        add_dummy_prefix: metadata.flag("ggml.add_space_prefix").unwrap_or(true),
        remove_extra_whitespaces: metadata.flag("ggml.remove_extra_whitespaces").unwrap_or(is_unigram),
    };
    Ok((pieces::tokenizer(&pieces, &settings, name)?, !is_unigram, is_unigram))
}
