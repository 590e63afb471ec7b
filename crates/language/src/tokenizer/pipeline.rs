//! Putting a tokenizer of the crate `tokenizers` together, of parts that are described as `tokenizer.json` has them.

use crate::error::{Error, Result};
use serde::de::DeserializeOwned;
use serde_json::{Value, json};
use std::collections::HashMap;
use std::panic::{AssertUnwindSafe, catch_unwind};
use tokenizers::{AddedToken, ModelWrapper, Tokenizer};

/// The error for what is wrong with the file `name`.
pub(super) fn damaged(name: &str, reason: impl ToString) -> Error {
    Error::Tokenizer { name: name.to_owned(), reason: reason.to_string() }
}

/// Runs what should never panic, and makes an error of it if it does: it is others' code on others' files.
pub(super) fn guarded<T>(work: impl FnOnce() -> T) -> std::result::Result<T, &'static str> {
    catch_unwind(AssertUnwindSafe(work)).map_err(|_| "it has contents that no tokenizer can have")
}

/// What goes around the model: the parts as `tokenizer.json` has them, `null` for none.
#[derive(Default)]
pub(super) struct Around {
    pub(super) normalizer: Value,
    pub(super) pre_tokenizer: Value,
    pub(super) decoder: Value,
}

/// A token that is found in the text before anything else is done to it.
pub(super) struct Added {
    pub(super) text: String,
    pub(super) special: bool,
}

/// The tokenizer of `model` and what goes around it.
pub(super) fn assemble(
    model: impl Into<ModelWrapper>,
    around: Around,
    added: Vec<Added>,
    name: &str,
) -> Result<Tokenizer> {
    let mut tokenizer = Tokenizer::new(model.into());
    tokenizer
        .with_normalizer(part::<tokenizers::NormalizerWrapper>(around.normalizer, name)?)
        .map_err(|error| damaged(name, error))?;
    tokenizer.with_pre_tokenizer(part::<tokenizers::PreTokenizerWrapper>(around.pre_tokenizer, name)?);
    tokenizer.with_decoder(part::<tokenizers::DecoderWrapper>(around.decoder, name)?);
    let token = |added: Added| AddedToken::from(added.text, added.special).normalized(false);
    let (special, other): (Vec<_>, Vec<_>) = added.into_iter().partition(|added| added.special);
    let failed = |error: tokenizers::Error| damaged(name, error);
    tokenizer.add_special_tokens(special.into_iter().map(token)).map_err(failed)?;
    tokenizer.add_tokens(other.into_iter().map(token)).map_err(failed)?;
    Ok(tokenizer)
}

/// Has the tokens `before` and `after` put around each text, if special ones are asked for.
pub(super) fn surround(
    tokenizer: &mut Tokenizer,
    before: Option<u32>,
    after: Option<u32>,
    name: &str,
) -> Result<()> {
    let token = |id: u32| -> Result<(Value, String)> {
        let text = tokenizer.id_to_token(id).ok_or_else(|| damaged(name, format!("it has no token {id}")))?;
        Ok((json!({"SpecialToken": {"id": text, "type_id": 0}}), text))
    };
    let (mut single, mut special) = (Vec::new(), serde_json::Map::new());
    for id in [before, None, after].into_iter().enumerate() {
        match id {
            (1, _) => single.push(json!({"Sequence": {"id": "A", "type_id": 0}})),
            (_, None) => {}
            (_, Some(id)) => {
                let (piece, text) = token(id)?;
                single.push(piece);
                special.insert(text.clone(), json!({"id": text, "ids": [id], "tokens": [text]}));
            }
        }
    }
    if !special.is_empty() {
        let pair = json!([{"Sequence": {"id": "A", "type_id": 0}}, {"Sequence": {"id": "B", "type_id": 1}}]);
        let template =
            json!({"type": "TemplateProcessing", "single": single, "pair": pair, "special_tokens": special});
        tokenizer.with_post_processor(part::<tokenizers::PostProcessorWrapper>(template, name)?);
    }
    Ok(())
}

fn part<T: DeserializeOwned>(description: Value, name: &str) -> Result<Option<T>> {
    // By way of a text, as some parts borrow strings of what they are read from.
    if description.is_null() {
        return Ok(None);
    }
    serde_json::from_str(&description.to_string()).map(Some).map_err(|error| damaged(name, error))
}

/// The model is built on the assumption that each merge is of known tokens, to a known one.
pub(super) fn check_merges(
    vocabulary: &HashMap<String, u32>,
    merges: &[(String, String)],
    name: &str,
) -> Result<()> {
    let mut merged = String::new();
    for (left, right) in merges {
        merged.clear();
        merged.push_str(left);
        merged.push_str(right);
        if ![left, right, &merged].into_iter().all(|token| vocabulary.contains_key(token)) {
            let reason = format!("it merges {left:?} and {right:?}, but not all are in its vocabulary");
            return Err(damaged(name, reason));
        }
    }
    Ok(())
}
