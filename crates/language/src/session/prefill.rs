//! A prompt into the KV cache, in as many calls as it takes.

use super::answer::Answer;
use crate::error::Result;

impl Answer<'_> {
    /// Computes the tokens of the history that the cache does not have, and leaves the logits after the last one. False if it
    /// was cancelled on the way: what was computed stays.
    pub(super) fn prefill(&mut self) -> Result<bool> {
        let chunk = self.model.decoder.most_tokens();
        while self.state.cached < self.state.history.tokens().len() {
            if self.cancellation.is_cancelled() {
                return Ok(false);
            }
            let start = self.state.cached;
            let tokens = &self.state.history.tokens()[start..];
            let tokens = &tokens[..chunk.min(tokens.len())];
            let end = start + tokens.len();
            // Before the call, which may be broken off in the middle.
            self.state.written.note(start, end);
            let logits = self.model.decoder.run(tokens, start)?;
            if end == self.state.history.tokens().len() {
                self.model.scratch.rows.clear();
                self.model.scratch.rows.extend_from_slice(logits);
            }
            self.state.cached = end;
            self.count.prefilled += end - start;
        }
        self.ahead.clear();
        Ok(!self.cancellation.is_cancelled())
    }
}
