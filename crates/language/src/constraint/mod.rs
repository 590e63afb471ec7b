//! Structured output: answers held to a JSON schema, a regular expression or a grammar, by llguidance.

mod compiler;
mod grammar;

pub use compiler::GrammarCompiler;
pub use grammar::Grammar;
pub(crate) use grammar::with_bounded_spaces;

use crate::sampling::TokenMask;
use crate::{Error, Result};
use compiler::refused;
use llguidance::Matcher;
use std::fmt;

/// An answer's place in its grammar: which tokens may come next. Made by [`GrammarCompiler::compile`].
///
/// Before each token [`mask`](Self::mask), after it [`accept`](Self::accept), until [`is_complete`](Self::is_complete). A
/// clone goes on by itself: for forks.
#[derive(Clone)]
pub struct Constraint {
    matcher: Matcher,
    mask: TokenMask,
    /// Whether `mask` is that of the present place.
    is_current: bool,
}

impl Constraint {
    fn new(matcher: Matcher, vocab_size: usize) -> Result<Self> {
        match matcher.get_error() {
            Some(error) => Err(refused(&error)),
            None => Ok(Self { matcher, mask: TokenMask::none(vocab_size), is_current: false }),
        }
    }

    /// The tokens that may come next, tokens that end the answer among them where the grammar lets it end, and only they
    /// where nothing else can follow. Computed once a place.
    ///
    /// # Errors
    /// [`Error::Grammar`] if it takes more than the limits let it, or no token at all can follow.
    pub fn mask(&mut self) -> Result<&TokenMask> {
        if !self.is_current {
            let allowed = self.matcher.compute_mask_or_eos().map_err(|error| refused(&error))?;
            self.mask.copy_from(allowed.as_slice(), self.mask.len());
            self.is_current = true;
        }
        Ok(&self.mask)
    }

    /// Goes on by one token.
    ///
    /// # Errors
    /// [`Error::NotInGrammar`] if the grammar does not have it here; the constraint stays where it was.
    /// [`Error::Grammar`] if it takes more than the limits let it.
    pub fn accept(&mut self, token: u32) -> Result<()> {
        let is_stopped = self.matcher.is_stopped() && !self.matcher.is_error();
        let is_allowed = if self.is_current || is_stopped {
            self.mask()?.allows(token)
        } else {
            self.matcher.validate_tokens(&[token]).map_err(|error| refused(&error))? == 1
        };
        if !is_allowed {
            return Err(Error::NotInGrammar { token });
        }
        if !is_stopped {
            self.is_current = false;
            self.matcher.consume_token(token).map_err(|error| refused(&error))?;
        }
        Ok(())
    }

    /// Whether the answer is whole and nothing can follow it: the grammar is at its end, or a token that ends it came.
    pub fn is_complete(&self) -> bool {
        !self.matcher.is_error() && self.matcher.is_stopped()
    }

    /// Whether the answer might end here, though it could go on.
    ///
    /// # Errors
    /// [`Error::Grammar`] if it takes more than the limits let it.
    pub fn can_end(&mut self) -> Result<bool> {
        Ok(self.is_complete() || self.matcher.is_accepting().map_err(|error| refused(&error))?)
    }
}

impl fmt::Debug for Constraint {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Constraint").field("is_complete", &self.is_complete()).finish_non_exhaustive()
    }
}
