//! Guessed tokens: several are computed in one call of the program, which costs little more than one where weights have to be
//! read from memory, and those that the model would have chosen itself stay.

mod draft;
mod ngram;

pub(crate) use draft::Draft;
pub use ngram::PromptLookup;

use crate::error::Result;
use crate::request::Speculation;

/// Puts guesses of what follows `tokens` into `guesses`, at most `most`.
pub(crate) fn guess(
    speculation: Speculation,
    draft: Option<&mut Draft>,
    tokens: &[u32],
    most: usize,
    guesses: &mut Vec<u32>,
) -> Result<()> {
    guesses.clear();
    match (speculation, draft) {
        (Speculation::PromptLookup(lookup), _) => lookup.guess(tokens, most, guesses),
        (Speculation::Draft(at_once), Some(draft)) => draft.guess(tokens, most.min(at_once), guesses)?,
        (Speculation::None | Speculation::Draft(_), _) => {}
    }
    Ok(())
}
