//! Rows of bytes, one below the other.

/// `count` rows of `len` bytes, each `stride` bytes after the one before.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Rows<'a> {
    bytes: &'a [u8],
    stride: usize,
    count: usize,
    len: usize,
    /// What stands in for the last row, where it is not whole.
    last: Option<&'a [u8]>,
}

impl<'a> Rows<'a> {
    /// The rows that begin with `bytes`; `last`, if given, stands in for the last of them.
    ///
    /// # Panics
    /// If they do not lie within.
    pub(crate) fn new(
        bytes: &'a [u8],
        stride: usize,
        count: usize,
        len: usize,
        last: Option<&'a [u8]>,
    ) -> Self {
        let whole = count - usize::from(last.is_some());
        assert!(whole == 0 || (whole - 1) * stride + len <= bytes.len(), "rows beyond their plane");
        assert!(last.is_none_or(|last| last.len() == len), "a last row of another length");
        Self { bytes, stride, count, len, last }
    }

    /// Bytes of a row.
    pub(crate) fn len(&self) -> usize {
        self.len
    }

    /// Number of rows.
    pub(crate) fn count(&self) -> usize {
        self.count
    }

    /// Row `index`.
    pub(crate) fn get(&self, index: usize) -> &'a [u8] {
        match self.last {
            Some(last) if index + 1 == self.count => last,
            _ => &self.bytes[index * self.stride..][..self.len],
        }
    }

    /// The rows two by two: those that follow each other by the stride, then what is left, a single row twice.
    pub(super) fn pairs(&self) -> Pairs {
        let regular = (self.count - usize::from(self.last.is_some())) / 2;
        let left = self.count - 2 * regular;
        let rest = (left > 0).then(|| [2 * regular, self.count - 1].map(|index| self.get(index).as_ptr()));
        Pairs { first: self.bytes.as_ptr(), stride: self.stride, regular, rest }
    }
}

/// Pointers to the rows, each good for the rows' length.
#[derive(Clone, Copy, Debug)]
pub(super) struct Pairs {
    pub(super) first: *const u8,
    pub(super) stride: usize,
    /// Pairs that lie at `first + 2 * index * stride`.
    pub(super) regular: usize,
    /// The pair after them. If both are the same row, the weight of the second is 0.
    pub(super) rest: Option<[*const u8; 2]>,
}
