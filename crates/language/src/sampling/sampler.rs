//! The steps in their order, and what lasts from token to token.

use super::candidates::{Candidates, Scale};
use super::mask::TokenMask;
use super::options::SamplingOptions;
use super::penalties::Window;
use super::random::Random;
use super::{bias, draw, min_p, penalties, scan, top_k, top_p};
use crate::{Error, Result};
use serde::{Deserialize, Serialize};

/// More than any vocabulary has.
const MOST_TOKENS: usize = 1 << 22;

/// Chooses tokens from logits, as [`SamplingOptions`] say.
///
/// A clone goes on as the original would: for forks. Serialized and read back, in another process too, it does the same:
/// for saved sessions. Once warm, nothing is allocated.
///
/// ```
/// use nearside_language::{Sampler, SamplingOptions};
///
/// let mut sampler = Sampler::new(&SamplingOptions { top_k: 2, seed: Some(7), ..Default::default() }, 4)?;
/// sampler.accept_prompt(&[0]);
/// let mut logits = [0.1, 2.0, 1.5, -3.0];
/// let token = sampler.sample(&mut logits, None)?;
/// sampler.accept(token);
/// assert!([1, 2].contains(&token));
/// # Ok::<(), nearside_language::Error>(())
/// ```
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(try_from = "State", into = "State")]
pub struct Sampler {
    options: SamplingOptions,
    vocab_size: usize,
    seed: u64,
    random: Random,
    window: Window,
    candidates: Candidates,
}

/// What of a sampler is saved.
#[derive(Serialize, Deserialize)]
struct State {
    options: SamplingOptions,
    vocab_size: usize,
    seed: u64,
    random: Random,
    window: Window,
}

impl Sampler {
    /// For logits of `vocab_size` tokens.
    ///
    /// # Errors
    /// [`Error::Options`], also for a bias of a token that is not in the vocabulary;
    /// [`Error::NoRandomness`] if the system gives no seed and `options` has none.
    pub fn new(options: &SamplingOptions, vocab_size: usize) -> Result<Self> {
        check(options, vocab_size)?;
        let seed = match options.seed {
            Some(seed) => seed,
            None if options.is_greedy() => 0,
            None => system_seed()?,
        };
        let mut sampler = Self {
            options: options.clone(),
            vocab_size,
            seed,
            random: Random::new(seed),
            window: Window::default(),
            candidates: Candidates::default(),
        };
        sampler.reserve(1024);
        Ok(sampler)
    }

    /// The next token for `logits`, f32 of each token of the vocabulary; `mask` says which may come. Uses `logits` as
    /// room for its work. Does not [`accept`](Self::accept) the token.
    ///
    /// Minus infinity is a logit too: the model never says that token.
    ///
    /// # Errors
    /// [`Error::LogitsWidth`] if `logits` are of another vocabulary, [`Error::InvalidLogits`] if one is NaN or plus
    /// infinity, [`Error::NoTokenAllowed`] if mask, bans and the model leave no token.
    pub fn sample(&mut self, logits: &mut [f32], mask: Option<&TokenMask>) -> Result<u32> {
        if logits.len() != self.vocab_size {
            return Err(Error::LogitsWidth { expected: self.vocab_size, found: logits.len() });
        }
        let options = &self.options;
        bias::apply(logits, &options.logit_bias);
        if options.has_penalties() {
            penalties::apply(logits, &self.window, options);
        }
        let candidates = &mut self.candidates;
        let largest = scan::scan(logits, mask, &mut candidates.maxima)?;
        if options.is_greedy() {
            return scan::first_of(logits, &candidates.maxima, largest).ok_or(Error::NoTokenAllowed);
        }
        // 0 times infinity would be NaN.
        let scale = Scale { largest, inverse: options.temperature.recip().min(f32::MAX) };
        candidates.all = true;
        top_k::apply(candidates, logits, options.top_k as usize);
        top_p::apply(candidates, logits, scale, options.top_p);
        min_p::apply(candidates, logits, scale, options.min_p);
        draw::draw(candidates, logits, scale, &mut self.random).ok_or(Error::NoTokenAllowed)
    }

    /// Takes note of a token that was generated, for the penalties.
    pub fn accept(&mut self, token: u32) {
        self.note(token, true);
    }

    /// Takes note of tokens of a prompt, which count for the repetition penalty only.
    pub fn accept_prompt(&mut self, tokens: &[u32]) {
        self.reserve(tokens.len() + 1024);
        tokens.iter().for_each(|&token| self.note(token, false));
    }

    /// Makes room for so many tokens to be accepted without allocating; for 1024 there is.
    pub fn reserve(&mut self, tokens: usize) {
        if self.options.has_penalties() {
            self.window.reserve(tokens.min(self.vocab_size), self.options.penalty_window);
        }
    }

    /// Where its random numbers began: as asked for, or as the system gave it. 0 if none is needed.
    pub fn seed(&self) -> u64 {
        self.seed
    }

    /// What it was made with.
    pub fn options(&self) -> &SamplingOptions {
        &self.options
    }

    /// Number of tokens it chooses from.
    pub fn vocab_size(&self) -> usize {
        self.vocab_size
    }

    fn note(&mut self, token: u32, generated: bool) {
        if self.options.has_penalties() && (token as usize) < self.vocab_size {
            self.window.push(token, generated, self.options.penalty_window);
        }
    }
}

impl From<Sampler> for State {
    fn from(sampler: Sampler) -> Self {
        let Sampler { options, vocab_size, seed, random, window, .. } = sampler;
        Self { options, vocab_size, seed, random, window }
    }
}

impl TryFrom<State> for Sampler {
    type Error = Error;

    fn try_from(state: State) -> Result<Self> {
        let State { options, vocab_size, seed, random, window } = state;
        check(&options, vocab_size)?;
        if !window.is_within(vocab_size) {
            return Err(Error::Options("the saved penalty window is not one that a sampler wrote".into()));
        }
        let mut sampler =
            Self { options, vocab_size, seed, random, window, candidates: Candidates::default() };
        sampler.reserve(1024);
        Ok(sampler)
    }
}

fn check(options: &SamplingOptions, vocab_size: usize) -> Result<()> {
    options.validate()?;
    if vocab_size == 0 || vocab_size > MOST_TOKENS {
        return Err(Error::Options(format!(
            "a vocabulary can't have {vocab_size} tokens: from 1 to {MOST_TOKENS}"
        )));
    }
    match options.logit_bias.iter().find(|&&(token, _)| token as usize >= vocab_size) {
        None => Ok(()),
        Some((token, _)) => Err(Error::Options(format!(
            "logit_bias can't be for the token {token}: the vocabulary has {vocab_size}"
        ))),
    }
}

fn system_seed() -> Result<u64> {
    let mut bytes = [0; 8];
    getrandom::fill(&mut bytes).map_err(|error| Error::NoRandomness { reason: error.to_string() })?;
    Ok(u64::from_le_bytes(bytes))
}
