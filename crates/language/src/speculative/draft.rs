//! Guesses of a smaller model.

use crate::decoder::{Decoder, Written};
use crate::error::{Error, Result};
use crate::session::common_prefix;
use crate::tokenizer::Tokenizer;
use std::time::Duration;

/// A smaller model of the same tokenizer, with a KV cache of its own, which follows what it is asked to continue.
pub(crate) struct Draft {
    decoder: Decoder,
    /// What its KV cache holds.
    cached: Vec<u32>,
    written: Written,
    /// Tokens that the tokenizer has: logits beyond them are padding.
    vocabulary: usize,
}

impl Draft {
    /// # Errors
    /// [`Error::Draft`] if its tokens are not those of `target`.
    pub(crate) fn new(decoder: Decoder, tokenizer: &Tokenizer, target: &Tokenizer) -> Result<Self> {
        let differs = |reason: String| Err(Error::Draft { reason });
        let (own, wanted) = (tokenizer.vocab_size(), target.vocab_size());
        if own != wanted {
            return differs(format!("it has {own} tokens, not {wanted}"));
        }
        let other = (0..wanted as u32).find(|&id| tokenizer.token_bytes(id) != target.token_bytes(id));
        if let Some(id) = other {
            return differs(format!("its token {id} stands for another text"));
        }
        let cached = Vec::with_capacity(decoder.facts().context_length);
        Ok(Self { decoder, cached, written: Written::default(), vocabulary: wanted })
    }

    /// Calls of its program so far, and the time in them.
    pub(crate) fn work(&self) -> (u64, Duration) {
        self.decoder.work()
    }

    /// Puts its greedy continuation of `tokens` into `guesses`, at most `most` tokens, none where its context is too short.
    pub(super) fn guess(&mut self, tokens: &[u32], most: usize, guesses: &mut Vec<u32>) -> Result<()> {
        guesses.clear();
        let facts = self.decoder.facts();
        if most == 0 || tokens.is_empty() || tokens.len() + most > facts.context_length {
            return Ok(());
        }
        let shared = common_prefix(&self.cached, tokens).min(tokens.len() - 1);
        let kept = self.written.usable(shared, facts.sliding);
        self.cached.truncate(kept);
        let chunk = self.decoder.most_tokens();
        while self.cached.len() < tokens.len() {
            let start = self.cached.len();
            let end = (start + chunk).min(tokens.len());
            let next = greedy(&self.decoder.run(&tokens[start..end], start)?[..self.vocabulary]);
            self.written.note(start, end);
            self.cached.extend_from_slice(&tokens[start..end]);
            if end == tokens.len() {
                guesses.push(next);
            }
        }
        while guesses.len() < most {
            let (last, position) = (guesses[guesses.len() - 1], self.cached.len());
            let next = greedy(&self.decoder.run(&[last], position)?[..self.vocabulary]);
            self.written.note(position, position + 1);
            self.cached.push(last);
            guesses.push(next);
        }
        Ok(())
    }
}

/// The most likely token, the first of several.
fn greedy(logits: &[f32]) -> u32 {
    let better = |best: (usize, f32), (index, &logit): (usize, &f32)| {
        if logit > best.1 { (index, logit) } else { best }
    };
    logits.iter().enumerate().fold((0, f32::NEG_INFINITY), better).0 as u32
}
