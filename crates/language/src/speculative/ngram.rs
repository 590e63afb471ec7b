//! Prompt lookup: what followed the last few tokens when they were there before.

/// Guesses by looking the last tokens up in what comes before them (prompt lookup decoding, A. Saxena 2023).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct PromptLookup {
    /// The most tokens that are looked up together; fewer, down to 1, if so many are nowhere.
    pub longest: usize,
    /// The most tokens that are guessed at once.
    pub most: usize,
}

impl Default for PromptLookup {
    fn default() -> Self {
        Self { longest: 3, most: 6 }
    }
}

impl PromptLookup {
    /// Puts what followed the newest earlier occurrence of the last tokens into `guesses`, at most `most` tokens.
    pub(super) fn guess(&self, tokens: &[u32], most: usize, guesses: &mut Vec<u32>) {
        guesses.clear();
        let most = most.min(self.most);
        if most == 0 {
            return;
        }
        for length in (1..=self.longest.min(tokens.len().saturating_sub(1))).rev() {
            let (before, last) = tokens.split_at(tokens.len() - length);
            // An occurrence may overlap the last tokens themselves, as in a run of one token.
            let found = (0..before.len()).rev().find(|&start| tokens[start..].starts_with(last));
            if let Some(start) = found {
                let follows = &tokens[start + length..];
                guesses.extend_from_slice(&follows[..most.min(follows.len())]);
                return;
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn guesses(tokens: &[u32], most: usize) -> Vec<u32> {
        let mut guesses = Vec::new();
        PromptLookup { longest: 3, most: 4 }.guess(tokens, most, &mut guesses);
        guesses
    }

    #[test]
    fn the_longest_and_newest_match_is_taken() {
        assert_eq!(guesses(&[1, 2, 3, 9, 5, 3, 8, 1, 2, 3], 8), [9, 5, 3, 8]);
        assert_eq!(guesses(&[3, 4, 3, 5, 3], 8), [5, 3]);
        assert_eq!(guesses(&[1, 2, 3, 9, 5, 1, 2, 3], 2), [9, 5]);
    }

    #[test]
    fn a_run_of_one_token_goes_on() {
        assert_eq!(guesses(&[6, 6, 6], 8), [6]);
    }

    #[test]
    fn where_nothing_was_there_before_nothing_is_guessed() {
        assert!(guesses(&[1, 2, 3], 8).is_empty());
        assert!(guesses(&[], 8).is_empty());
        assert!(guesses(&[1, 1], 0).is_empty());
    }
}
