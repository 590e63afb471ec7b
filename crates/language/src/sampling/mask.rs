//! Which tokens may come next, one bit each.

/// A set of token ids, as a bit each: those that a constraint lets through.
///
/// Ids at or beyond its length are not in it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TokenMask {
    words: Vec<u32>,
    len: usize,
}

impl TokenMask {
    /// No token of `len`.
    pub fn none(len: usize) -> Self {
        Self { words: vec![0; len.div_ceil(32)], len }
    }

    /// All tokens of `len`.
    pub fn all(len: usize) -> Self {
        let mut mask = Self { words: vec![u32::MAX; len.div_ceil(32)], len };
        mask.clear_beyond();
        mask
    }

    /// Number of ids it tells of, allowed or not.
    pub fn len(&self) -> usize {
        self.len
    }

    /// Whether it tells of no id at all.
    pub fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// Puts `token` in; an id beyond its length is left out.
    pub fn allow(&mut self, token: u32) {
        if (token as usize) < self.len {
            self.words[token as usize / 32] |= 1 << (token % 32);
        }
    }

    /// Takes `token` out.
    pub fn forbid(&mut self, token: u32) {
        if let Some(word) = self.words.get_mut(token as usize / 32) {
            *word &= !(1 << (token % 32));
        }
    }

    /// Whether `token` is in it.
    pub fn allows(&self, token: u32) -> bool {
        self.words.get(token as usize / 32).is_some_and(|word| word >> (token % 32) & 1 == 1)
    }

    /// How many tokens are in it.
    pub fn count(&self) -> usize {
        self.words.iter().map(|word| word.count_ones() as usize).sum()
    }

    /// The ids in it, ascending.
    pub fn tokens(&self) -> impl Iterator<Item = u32> + '_ {
        (0..self.len as u32).filter(|&token| self.allows(token))
    }

    /// Takes over `words`, lowest bit first, for `len` ids; allocates only if it has to grow.
    pub(crate) fn copy_from(&mut self, words: &[u32], len: usize) {
        self.words.clear();
        self.words.extend(words.iter().copied().chain(std::iter::repeat(0)).take(len.div_ceil(32)));
        self.len = len;
        self.clear_beyond();
    }

    /// Bits of 32 tokens, the lowest first.
    pub(crate) fn words(&self) -> &[u32] {
        &self.words
    }

    fn clear_beyond(&mut self) {
        if let Some(last) = self.words.last_mut()
            && !self.len.is_multiple_of(32)
        {
            *last &= (1 << (self.len % 32)) - 1;
        }
    }
}

impl FromIterator<u32> for TokenMask {
    /// As long as its largest id asks for.
    fn from_iter<I: IntoIterator<Item = u32>>(tokens: I) -> Self {
        let tokens: Vec<u32> = tokens.into_iter().collect();
        let mut mask = Self::none(tokens.iter().max().map_or(0, |&largest| largest as usize + 1));
        tokens.into_iter().for_each(|token| mask.allow(token));
        mask
    }
}
