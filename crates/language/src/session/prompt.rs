//! The tokens of a prompt: those that the session has, and those that are new.

use super::history::{History, common_prefix};
use crate::error::{Error, Result};
use crate::model::LanguageModel;
use crate::request::{Conversation, Prompt};
use crate::template::RenderOptions;
use crate::tokenizer::EncodeOptions;

/// The tokens of a prompt.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Resolved {
    /// As many of the history's tokens are its first.
    pub(super) kept: usize,
    pub(super) more: Vec<u32>,
    /// What they stand for, if that is known.
    pub(super) text: Option<String>,
}

impl Resolved {
    pub(super) fn len(&self) -> usize {
        self.kept + self.more.len()
    }

    /// Lets the history become that of the prompt.
    pub(super) fn become_history(&self, history: &mut History) {
        match &self.text {
            Some(text) => history.go_on(self.kept, &self.more, text),
            None if self.more.is_empty() && self.kept == history.tokens().len() => {}
            None => {
                let tokens = [&history.tokens()[..self.kept], &self.more].concat();
                history.become_tokens(&tokens);
            }
        }
    }
}

pub(super) fn resolve(
    model: &LanguageModel,
    history: &History,
    prompt: &Prompt,
    conversation: Option<&Conversation>,
) -> Result<Resolved> {
    let resolved = match (prompt, conversation) {
        (Prompt::Text(text), _) => of_text(model, history, text.clone())?,
        (Prompt::Tokens(tokens), _) => {
            let vocabulary = model.facts().vocab_size;
            if let Some(&token) = tokens.iter().find(|&&token| token as usize >= vocabulary) {
                return Err(Error::NoSuchToken { token, vocabulary });
            }
            let kept = common_prefix(history.tokens(), tokens);
            Resolved { kept, more: tokens[kept..].to_vec(), text: None }
        }
        (Prompt::Continue, _) => Resolved { kept: history.tokens().len(), more: Vec::new(), text: None },
        (Prompt::Conversation(_) | Prompt::Turn(_), Some(conversation)) => {
            of_text(model, history, written(model, conversation)?)?
        }
        (Prompt::Conversation(_) | Prompt::Turn(_), None) => return Err(Error::EmptyPrompt),
    };
    if resolved.len() == 0 { Err(Error::EmptyPrompt) } else { Ok(resolved) }
}

/// The conversation as the model's text, up to where its answer begins.
pub(super) fn written(model: &LanguageModel, conversation: &Conversation) -> Result<String> {
    let template = model.template.as_ref().ok_or(Error::NoTemplate)?;
    let options = RenderOptions {
        add_generation_prompt: true,
        variables: conversation.variables.clone(),
        ..RenderOptions::default()
    };
    template.render(&conversation.messages, &conversation.tools, &options)
}

/// The tokens of a text. Where it goes on from an answer, the answer's tokens stay as they were generated.
pub(super) fn of_text(model: &LanguageModel, history: &History, text: String) -> Result<Resolved> {
    const INSIDE: EncodeOptions = EncodeOptions { add_special: false, parse_special: true };
    if let Some(end) = history.shared_end(&text) {
        let more = model.tokenizer.encode(&text[end.bytes..], INSIDE)?;
        // Some tokenizers change the beginning of what they are given: then the text is not cut here.
        if spelled(model, &more).eq(text.as_bytes()[end.bytes..].iter().copied()) {
            return Ok(Resolved { kept: end.tokens, more, text: Some(text) });
        }
    }
    let mut tokens = model.tokenizer.encode(&text, INSIDE)?;
    let facts = model.facts();
    if let Some(bos) = facts.bos_id.filter(|_| facts.add_bos)
        && tokens.first() != Some(&bos)
    {
        tokens.insert(0, bos);
    }
    let kept = common_prefix(history.tokens(), &tokens);
    tokens.drain(..kept);
    Ok(Resolved { kept, more: tokens, text: Some(text) })
}

fn spelled<'a>(model: &'a LanguageModel, tokens: &'a [u32]) -> impl Iterator<Item = u8> + 'a {
    tokens.iter().flat_map(|&token| model.tokenizer.token_bytes(token).unwrap_or_default().iter().copied())
}
