//! Hugging Face's `tokenizer.json`.

use super::bytes::{self, Spelling};
use super::pipeline::{damaged, guarded};
use super::{EncodeOptions, Parts, limits};
use crate::error::{Error, Result};
use serde::Deserialize;
use serde_json::Value;
use std::sync::{PoisonError, RwLock};
use tokenizers::{DecoderWrapper, ModelWrapper};

/// The parts that say what a text may cost; the vocabulary is passed over.
#[derive(Deserialize)]
struct Outline {
    #[serde(default)]
    normalizer: Value,
    #[serde(default)]
    pre_tokenizer: Value,
    #[serde(default)]
    post_processor: Value,
    #[serde(default)]
    decoder: Value,
}

/// Whether the file begins as JSON's objects do.
pub(super) fn is_one(contents: &[u8]) -> bool {
    contents.trim_ascii_start().first() == Some(&b'{')
}

/// Reads the file.
pub(super) fn read(contents: &[u8], name: &str) -> Result<Parts> {
    let outline: Outline = serde_json::from_slice(contents).map_err(|error| damaged(name, error))?;
    limits::growth(&outline.normalizer, &outline.pre_tokenizer, &outline.decoder)
        .map_err(|reason| damaged(name, reason))?;
    let mut inner = guarded(|| tokenizers::Tokenizer::from_bytes(contents))
        .map_err(|reason| damaged(name, reason))?
        .map_err(|error| damaged(name, error))?;
    // What is for batches: a single text is neither cut nor filled up.
    inner.with_truncation(None).map_err(|error| damaged(name, error))?;
    inner.with_padding(None);
    let (bos, eos) = ends(&outline.post_processor);
    let eos = eos.into_iter().collect();
    Ok(Parts { bos, eos, ..Parts::of(inner, name)? })
}

/// The tokens that the post-processor puts before and after a text.
fn ends(processor: &Value) -> (Option<u32>, Option<u32>) {
    let id = |value: &Value| value.as_u64().and_then(|id| u32::try_from(id).ok());
    match processor["type"].as_str() {
        Some("Sequence") => {
            let all = processor["processors"].as_array().into_iter().flatten().map(ends);
            all.fold((None, None), |all, one| (all.0.or(one.0), all.1.or(one.1)))
        }
        Some("BertProcessing" | "RobertaProcessing") => (id(&processor["cls"][1]), id(&processor["sep"][1])),
        Some("TemplateProcessing") => {
            let Some(single) = processor["single"].as_array() else { return (None, None) };
            let token = |piece: Option<&Value>| {
                let token = piece?["SpecialToken"]["id"].as_str()?;
                id(&processor["special_tokens"][token]["ids"][0])
            };
            (token(single.first()), token(single.last().filter(|_| single.len() > 1)))
        }
        _ => (None, None),
    }
}

/// How the vocabulary spells its tokens: the decoder tells.
fn spelling(inner: &tokenizers::Tokenizer, decoders: &[&DecoderWrapper]) -> Spelling {
    if decoders.iter().any(|decoder| matches!(decoder, DecoderWrapper::ByteLevel(_))) {
        return Spelling::ByteLevel;
    }
    let pieces = |decoder: &&DecoderWrapper| {
        matches!(decoder, DecoderWrapper::ByteFallback(_) | DecoderWrapper::Metaspace(_))
    };
    let is_unigram = matches!(inner.get_model(), ModelWrapper::Unigram(_));
    if is_unigram || decoders.iter().any(pieces) { Spelling::SentencePiece } else { Spelling::Plain }
}

/// Whether decoding drops a text's first space.
fn strips_leading_space(decoders: &[&DecoderWrapper]) -> bool {
    decoders.iter().any(|decoder| match decoder {
        DecoderWrapper::Strip(strip) => strip.content == ' ' && strip.start > 0,
        DecoderWrapper::Metaspace(_) => true,
        _ => false,
    })
}

fn flatten<'a>(decoder: &'a DecoderWrapper, all: &mut Vec<&'a DecoderWrapper>) {
    match decoder {
        DecoderWrapper::Sequence(sequence) => {
            sequence.get_decoders().iter().for_each(|decoder| flatten(decoder, all));
        }
        other => all.push(other),
    }
}

/// The tokenizer of the crate, which keeps as a setting whether special tokens in a text are text.
pub(super) struct Inner(RwLock<tokenizers::Tokenizer>);

impl Inner {
    pub(super) fn new(inner: tokenizers::Tokenizer) -> Self {
        Self(RwLock::new(inner))
    }

    pub(super) fn encode(&self, text: &str, options: EncodeOptions) -> Result<Vec<u32>> {
        let as_text = !options.parse_special;
        {
            let inner = self.0.read().unwrap_or_else(PoisonError::into_inner);
            if inner.get_encode_special_tokens() == as_text {
                return encode(&inner, text, options);
            }
        }
        let mut inner = self.0.write().unwrap_or_else(PoisonError::into_inner);
        inner.set_encode_special_tokens(as_text);
        encode(&inner, text, options)
    }

    pub(super) fn decode(&self, ids: &[u32], skip_special: bool) -> Result<String> {
        let inner = self.0.read().unwrap_or_else(PoisonError::into_inner);
        guarded(|| inner.decode(ids, skip_special)).map_err(failed)?.map_err(failed)
    }

    pub(super) fn id_of(&self, token: &str) -> Option<u32> {
        self.0.read().unwrap_or_else(PoisonError::into_inner).token_to_id(token)
    }
}

fn encode(inner: &tokenizers::Tokenizer, text: &str, options: EncodeOptions) -> Result<Vec<u32>> {
    let encode = || inner.encode_fast(text, options.add_special);
    let encoding = guarded(encode).map_err(failed)?.map_err(failed)?;
    Ok(encoding.get_ids().to_vec())
}

fn failed(error: impl ToString) -> Error {
    Error::Tokenize { reason: error.to_string() }
}

impl Parts {
    /// What is to be known of a tokenizer beside itself.
    pub(super) fn of(inner: tokenizers::Tokenizer, name: &str) -> Result<Self> {
        let value = |part: serde_json::Result<Value>| part.unwrap_or_default();
        let growth = limits::growth(
            &value(serde_json::to_value(inner.get_normalizer())),
            &value(serde_json::to_value(inner.get_pre_tokenizer())),
            &value(serde_json::to_value(inner.get_decoder())),
        )
        .map_err(|reason| damaged(name, reason))?;
        let mut decoders = Vec::new();
        if let Some(decoder) = inner.get_decoder() {
            flatten(decoder, &mut decoders);
        }
        let spelling = spelling(&inner, &decoders);
        let strips_leading_space = strips_leading_space(&decoders);
        let added = inner.get_added_tokens_decoder();
        let vocabulary = inner.get_vocab(true);
        let size = vocabulary.values().max().map_or(0, |&id| id as usize + 1);
        if size == 0 || size > super::MOST_TOKENS {
            let reason = format!("its ids go up to {size}; 1 to {} can be used", super::MOST_TOKENS);
            return Err(damaged(name, reason));
        }
        let mut bytes: Vec<Option<Box<[u8]>>> = vec![None; size];
        for (token, &id) in &vocabulary {
            // Added tokens are text as it is.
            let spelling = if added.contains_key(&id) { Spelling::Plain } else { spelling };
            bytes[id as usize] = Some(bytes::of(token, spelling).into());
        }
        let mut special = vec![false; size];
        for (&id, token) in &added {
            if let Some(special) = special.get_mut(id as usize) {
                *special = token.special;
            }
        }
        Ok(Self {
            inner: Inner::new(inner),
            growth,
            template: None,
            added: added.keys().copied().collect(),
            bytes,
            special,
            strips_leading_space,
            bos: None,
            eos: Vec::new(),
        })
    }
}
