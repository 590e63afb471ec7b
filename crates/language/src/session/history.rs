//! The tokens of a session, with the text that they stand for.

/// Tokens in order, and their text. Where an answer was generated, it is known which token ends where in the text, so that a
/// text that goes on from there keeps the tokens as they were generated: other tokens may stand for the same text.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct History {
    tokens: Vec<u32>,
    /// What the tokens stand for, without a begin-of-sequence token that the text itself does not have.
    text: Vec<u8>,
    /// Where the generated tokens end, ascending.
    ends: Vec<End>,
}

/// After `tokens` of the tokens the text has `bytes`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
pub(crate) struct End {
    pub(crate) tokens: usize,
    pub(crate) bytes: usize,
}

impl History {
    /// Puts it together again. `None` if the parts do not fit each other.
    pub(crate) fn of(tokens: Vec<u32>, text: Vec<u8>, ends: Vec<End>) -> Option<Self> {
        let ascending =
            ends.windows(2).all(|pair| pair[0].tokens < pair[1].tokens && pair[0].bytes <= pair[1].bytes);
        let within = ends.last().is_none_or(|last| last.tokens <= tokens.len() && last.bytes <= text.len());
        (ascending && within).then_some(Self { tokens, text, ends })
    }

    pub(crate) fn tokens(&self) -> &[u32] {
        &self.tokens
    }

    pub(crate) fn text(&self) -> &[u8] {
        &self.text
    }

    pub(crate) fn ends(&self) -> &[End] {
        &self.ends
    }

    /// Makes room for as many more tokens, and their text, without an allocation at each.
    pub(crate) fn reserve(&mut self, tokens: usize) {
        /// Most tokens are shorter; what is longer makes the text grow in time.
        const BYTES_A_TOKEN: usize = 16;
        self.tokens.reserve(tokens);
        self.ends.reserve(tokens);
        self.text.reserve(tokens * BYTES_A_TOKEN);
    }

    /// A generated token.
    pub(crate) fn push(&mut self, token: u32, bytes: &[u8]) {
        self.tokens.push(token);
        self.text.extend_from_slice(bytes);
        self.ends.push(End { tokens: self.tokens.len(), bytes: self.text.len() });
    }

    /// The end of the last generated token that lies in what this text and `text` have in common, if there is one.
    pub(crate) fn shared_end(&self, text: &str) -> Option<End> {
        let common = common_prefix(&self.text, text.as_bytes());
        let until = self.ends.partition_point(|end| end.bytes <= common);
        // A token can end within a character, where no text can be cut.
        self.ends[..until].iter().rev().find(|end| text.is_char_boundary(end.bytes)).copied()
    }

    /// Becomes the history of `text`, whose tokens are the first `kept` of its own and then `more`.
    pub(crate) fn go_on(&mut self, kept: usize, more: &[u32], text: &str) {
        self.tokens.truncate(kept);
        self.tokens.extend_from_slice(more);
        self.ends.retain(|end| end.tokens <= kept);
        self.text.clear();
        self.text.extend_from_slice(text.as_bytes());
    }

    /// Becomes the history of tokens whose text is not known.
    pub(crate) fn become_tokens(&mut self, tokens: &[u32]) {
        self.tokens.clear();
        self.tokens.extend_from_slice(tokens);
        self.ends.clear();
        self.text.clear();
    }

    /// Takes back generated tokens until the text has at most `bytes`, and none of those before `first`.
    pub(crate) fn take_back(&mut self, first: usize, bytes: usize) {
        while let Some(&last) = self.ends.last()
            && last.tokens > first
            && last.bytes > bytes
        {
            self.ends.pop();
            let before = self.ends.last().filter(|end| end.tokens + 1 == last.tokens);
            self.tokens.truncate(last.tokens - 1);
            match before {
                Some(before) => self.text.truncate(before.bytes),
                // The first of an answer: what stands before it is what the others leave.
                None => {
                    self.text.truncate(bytes);
                    break;
                }
            }
        }
    }

    /// The tokens from `first` on become the last ones of a text whose other tokens are `tokens`.
    pub(crate) fn transplant(&mut self, tokens: &[u32], text: &str, first: usize, first_byte: usize) {
        let shift = |at: usize, old: usize, new: usize| at - old + new;
        self.ends.retain(|end| end.tokens > first);
        for end in &mut self.ends {
            end.tokens = shift(end.tokens, first, tokens.len());
            end.bytes = shift(end.bytes, first_byte, text.len());
        }
        self.tokens.splice(..first, tokens.iter().copied());
        self.text.splice(..first_byte, text.bytes());
    }
}

/// Elements that both begin with.
pub(crate) fn common_prefix<T: PartialEq>(one: &[T], two: &[T]) -> usize {
    one.iter().zip(two).take_while(|(one, two)| one == two).count()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// `ask:` as one token, then the answer `né.` with a token for each half of the é.
    fn answered() -> History {
        let mut history = History::default();
        history.go_on(0, &[7], "ask:");
        for (token, bytes) in [(1, &b"n"[..]), (2, &[0xc3]), (3, &[0xa9]), (4, b".")] {
            history.push(token, bytes);
        }
        history
    }

    #[test]
    fn a_text_that_goes_on_keeps_the_tokens_as_they_were_generated() {
        let mut history = answered();
        let end = history.shared_end("ask:né. more").unwrap();
        assert_eq!(end, End { tokens: 5, bytes: 8 });
        history.go_on(end.tokens, &[9], "ask:né. more");
        assert_eq!(history.tokens(), [7, 1, 2, 3, 4, 9]);
        assert_eq!(history.text(), "ask:né. more".as_bytes());
    }

    #[test]
    fn a_text_that_leaves_the_answer_keeps_what_comes_before_and_never_half_a_character() {
        assert_eq!(answered().shared_end("ask:né!"), Some(End { tokens: 4, bytes: 7 }));
        // é and è begin with the same byte.
        assert_eq!(answered().shared_end("ask:nè"), Some(End { tokens: 2, bytes: 5 }));
        assert_eq!(answered().shared_end("ask:x"), None);
        assert_eq!(answered().shared_end("other"), None);
    }

    #[test]
    fn tokens_are_taken_back_to_where_the_text_was_cut() {
        let mut history = answered();
        history.take_back(1, 7);
        assert_eq!((history.tokens(), history.text()), (&[7, 1, 2, 3][..], "ask:né".as_bytes()));
        history.take_back(1, 4);
        assert_eq!((history.tokens(), history.text()), (&[7][..], &b"ask:"[..]));
        history.take_back(1, 0);
        assert_eq!(history.tokens(), [7]);
    }

    #[test]
    fn an_answer_is_put_after_a_shorter_text() {
        let mut history = answered();
        history.transplant(&[5, 6], "hi", 1, 4);
        assert_eq!((history.tokens(), history.text()), (&[5, 6, 1, 2, 3, 4][..], "hiné.".as_bytes()));
        assert_eq!(history.shared_end("hiné"), Some(End { tokens: 5, bytes: 5 }));
    }

    #[test]
    fn parts_that_do_not_fit_make_no_history() {
        let end = |tokens, bytes| End { tokens, bytes };
        assert!(History::of(vec![1, 2], b"ab".to_vec(), vec![end(1, 1), end(2, 2)]).is_some());
        assert_eq!(History::of(vec![1, 2], b"ab".to_vec(), vec![end(2, 2), end(1, 1)]), None);
        assert_eq!(History::of(vec![1, 2], b"ab".to_vec(), vec![end(3, 2)]), None);
        assert_eq!(History::of(vec![1, 2], b"ab".to_vec(), vec![end(2, 3)]), None);
    }
}
