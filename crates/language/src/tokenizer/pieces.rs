//! A vocabulary of pieces with scores: SentencePiece's, from its own file or from GGUF's.

use super::charsmap;
use super::pipeline::{self, Added, Around, damaged};
use crate::error::Result;
use serde_json::{Value, json};
use std::collections::HashMap;
use tokenizers::models::bpe::BPE;
use tokenizers::models::unigram::Unigram;
use tokenizers::{ModelWrapper, Tokenizer};

/// Longer pieces are no words; cutting them all ways would take long.
const LONGEST_PIECE: usize = 1 << 10;

/// A piece of text with its id's place in the list.
pub(super) struct Piece {
    pub(super) text: String,
    pub(super) score: f32,
    pub(super) kind: Kind,
}

/// What a piece is; the numbers are SentencePiece's, and GGUF's too.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Kind {
    Normal,
    Unknown,
    Control,
    UserDefined,
    Unused,
    Byte,
}

impl Kind {
    pub(super) fn of(number: i32) -> Option<Self> {
        Some(match number {
            1 => Self::Normal,
            2 => Self::Unknown,
            3 => Self::Control,
            4 => Self::UserDefined,
            5 => Self::Unused,
            6 => Self::Byte,
            _ => return None,
        })
    }
}

/// How pieces are chosen.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Algorithm {
    /// The likeliest pieces.
    Unigram,
    /// Neighbours are merged to the piece of the highest score.
    MergesByScore,
}

/// How a text is read.
pub(super) struct Settings<'a> {
    pub(super) algorithm: Algorithm,
    pub(super) unk: Option<u32>,
    pub(super) byte_fallback: bool,
    /// What becomes of characters, as SentencePiece compiles it; empty for nothing.
    pub(super) charsmap: &'a [u8],
    pub(super) add_dummy_prefix: bool,
    pub(super) remove_extra_whitespaces: bool,
}

/// The tokenizer of `pieces`.
pub(super) fn tokenizer(pieces: &[Piece], settings: &Settings<'_>, name: &str) -> Result<Tokenizer> {
    if let Some(piece) = pieces.iter().find(|piece| piece.text.len() > LONGEST_PIECE) {
        return Err(damaged(name, format!("a piece has {} bytes", piece.text.len())));
    }
    let user_defined: Vec<&str> = of_kind(pieces, Kind::UserDefined).collect();
    let around = Around {
        normalizer: normalizer(settings, name)?,
        pre_tokenizer: pre_tokenizer(settings, &user_defined),
        decoder: decoder(settings),
    };
    let model: ModelWrapper = match settings.algorithm {
        Algorithm::Unigram => unigram(pieces, settings, name)?.into(),
        Algorithm::MergesByScore => merging(pieces, settings, !user_defined.is_empty(), name)?.into(),
    };
    let added = pieces.iter().filter(|piece| matches!(piece.kind, Kind::Control | Kind::UserDefined));
    let added = added
        .map(|piece| Added { text: piece.text.clone(), special: piece.kind == Kind::Control })
        .filter(|added| !added.text.is_empty())
        .collect();
    pipeline::assemble(model, around, added, name)
}

fn of_kind(pieces: &[Piece], kind: Kind) -> impl Iterator<Item = &str> {
    pieces
        .iter()
        .filter(move |piece| piece.kind == kind && !piece.text.is_empty())
        .map(|piece| &piece.text[..])
}

fn unigram(pieces: &[Piece], settings: &Settings<'_>, name: &str) -> Result<Unigram> {
    let scores = pieces.iter().map(|piece| (piece.text.clone(), f64::from(piece.score))).collect();
    let unk = settings.unk.ok_or_else(|| damaged(name, "it has no piece for what it does not know"))?;
    if pieces.iter().any(|piece| piece.text.is_empty()) {
        return Err(damaged(name, "it has an empty piece"));
    }
    Unigram::from(scores, Some(unk as usize), settings.byte_fallback).map_err(|error| damaged(name, error))
}

fn merging(pieces: &[Piece], settings: &Settings<'_>, whole_words_first: bool, name: &str) -> Result<BPE> {
    let vocabulary: HashMap<String, u32> =
        pieces.iter().zip(0..).map(|(piece, id)| (piece.text.clone(), id)).collect();
    if vocabulary.len() != pieces.len() {
        return Err(damaged(name, "a piece is there twice"));
    }
    let merges = merges(pieces);
    let unk = settings.unk.map(|id| pieces[id as usize].text.clone());
    let vocabulary: tokenizers::models::bpe::Vocab = vocabulary.into_iter().collect();
    let mut builder = BPE::builder()
        .vocab_and_merges(vocabulary, merges)
        .fuse_unk(true)
        .byte_fallback(settings.byte_fallback)
        .ignore_merges(whole_words_first);
    if let Some(unk) = unk {
        builder = builder.unk_token(unk);
    }
    builder.build().map_err(|error| damaged(name, error))
}

/// All the ways to cut a normal piece in two others, those of the highest scores first.
fn merges(pieces: &[Piece]) -> Vec<(String, String)> {
    let normal: HashMap<&str, (f32, usize)> = pieces
        .iter()
        .enumerate()
        .filter(|(_, piece)| piece.kind == Kind::Normal)
        .map(|(id, piece)| (&piece.text[..], (piece.score, id)))
        .collect();
    let mut cuts = Vec::new();
    for (&text, &(score, id)) in &normal {
        for (at, _) in text.char_indices().skip(1) {
            let (left, right) = text.split_at(at);
            if normal.contains_key(left) && normal.contains_key(right) {
                cuts.push((score, id, left, right));
            }
        }
    }
    cuts.sort_unstable_by(|a, b| b.0.total_cmp(&a.0).then((a.1, a.2).cmp(&(b.1, b.2))));
    cuts.into_iter().map(|(_, _, left, right)| (left.to_owned(), right.to_owned())).collect()
}

fn normalizer(settings: &Settings<'_>, name: &str) -> Result<Value> {
    let regex = |of: &str, by: &str| json!({"type": "Replace", "pattern": {"Regex": of}, "content": by});
    let mut steps = Vec::new();
    if !settings.charsmap.is_empty() {
        charsmap::check(settings.charsmap).map_err(|reason| damaged(name, reason))?;
        let encoded = super::base64::encode(settings.charsmap);
        steps.push(json!({"type": "Precompiled", "precompiled_charsmap": encoded}));
    }
    if settings.remove_extra_whitespaces {
        // Spaces only: SentencePiece leaves others, such as the ends of lines.
        steps.push(regex(r"\A +| +\z", ""));
        steps.push(regex(" {2,}", " "));
    }
    steps.push(json!({"type": "Replace", "pattern": {"String": " "}, "content": "▁"}));
    if settings.add_dummy_prefix {
        // The step that adds the prefix leaves it out before another; SentencePiece does not.
        steps.push(regex(r"\A▁", "▁▁"));
    }
    Ok(json!({"type": "Sequence", "normalizers": steps}))
}

fn pre_tokenizer(settings: &Settings<'_>, user_defined: &[&str]) -> Value {
    let mut steps = Vec::new();
    if settings.add_dummy_prefix {
        steps.push(
            json!({"type": "Metaspace", "replacement": "▁", "prepend_scheme": "always", "split": false}),
        );
    }
    if !user_defined.is_empty() {
        // They stand for themselves and are never parts of others: the longest first.
        let mut longest_first = user_defined.to_vec();
        longest_first.sort_by_key(|piece| std::cmp::Reverse(piece.chars().count()));
        let all: Vec<String> = longest_first.into_iter().map(escape).collect();
        steps.push(
            json!({"type": "Split", "pattern": {"Regex": all.join("|")}, "behavior": "Isolated", "invert": false}),
        );
    }
    if steps.is_empty() { Value::Null } else { json!({"type": "Sequence", "pretokenizers": steps}) }
}

/// The regular expression of a text as it is.
fn escape(text: &str) -> String {
    let mut escaped = String::with_capacity(text.len());
    for character in text.chars() {
        if character.is_ascii_punctuation() || character == ' ' {
            escaped.push_str(&format!(r"\x{{{:x}}}", u32::from(character)));
        } else {
            escaped.push(character);
        }
    }
    escaped
}

fn decoder(settings: &Settings<'_>) -> Value {
    let mut steps = vec![json!({"type": "Replace", "pattern": {"String": "▁"}, "content": " "})];
    if settings.byte_fallback {
        steps.push(json!({"type": "ByteFallback"}));
    }
    // Fused, as the space is to go from the beginning of the text and not of each piece.
    steps.push(json!({"type": "Fuse"}));
    if settings.add_dummy_prefix {
        steps.push(json!({"type": "Strip", "content": " ", "start": 1, "stop": 0}));
    }
    json!({"type": "Sequence", "decoders": steps})
}
