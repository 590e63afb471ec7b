//! Byte pair encoding of bytes spelled as characters: what tiktoken and GPT-2's files have in common.

use super::bytes;
use super::pipeline::{self, damaged};
use crate::error::Result;
use std::collections::HashMap;
use tokenizers::models::bpe::BPE;

/// A vocabulary of byte strings whose numbers are their ranks, as tiktoken has it.
pub(super) struct Ranked {
    /// By rank.
    pub(super) tokens: Vec<Vec<u8>>,
}

impl Ranked {
    /// The model. Of two neighbours that can be merged, tiktoken takes those with the lowest rank; a merge list says
    /// the same with all the ways to cut each token, in the order of ranks.
    pub(super) fn model(&self, name: &str) -> Result<BPE> {
        let ranks: HashMap<&[u8], u32> =
            self.tokens.iter().zip(0..).map(|(token, rank)| (&token[..], rank)).collect();
        let spelled: Vec<String> = self.tokens.iter().map(|token| bytes::spell(token)).collect();
        let mut merges = Vec::new();
        for token in &self.tokens {
            let mut cuts: Vec<(u32, u32)> = (1..token.len())
                .filter_map(|at| Some((*ranks.get(&token[..at])?, *ranks.get(&token[at..])?)))
                .collect();
            cuts.sort_unstable();
            merges.extend(
                cuts.iter().map(|&(a, b)| (spelled[a as usize].clone(), spelled[b as usize].clone())),
            );
        }
        let vocabulary = spelled.into_iter().zip(0..).collect();
        model(vocabulary, merges, true, name)
    }
}

/// The model of a vocabulary and its merges.
pub(super) fn model(
    vocabulary: HashMap<String, u32>,
    merges: Vec<(String, String)>,
    whole_words_first: bool,
    name: &str,
) -> Result<BPE> {
    pipeline::check_merges(&vocabulary, &merges, name)?;
    let vocabulary: tokenizers::models::bpe::Vocab = vocabulary.into_iter().collect();
    BPE::builder()
        .vocab_and_merges(vocabulary, merges)
        .ignore_merges(whole_words_first)
        .build()
        .map_err(|error| damaged(name, error))
}
