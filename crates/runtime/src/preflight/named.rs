//! The data that delegates ask for by name: in the program, or in its data files.

use crate::delegate::xnnpack::NamedData;
use crate::file::ProgramFile;
use crate::program::Program;
use std::cell::RefCell;
use std::collections::{BTreeSet, HashMap};
use std::ops::Range;

/// Data that is not there is long enough for any check: the graph can be described without it.
const ANY_LENGTH: u64 = 1 << 40;

/// All of it, to be looked up many times.
pub(super) struct Named<'p> {
    program: &'p Program,
    inside: HashMap<&'p str, &'p Range<u64>>,
    missing: RefCell<BTreeSet<String>>,
}

impl<'p> Named<'p> {
    pub(super) fn new(program: &'p Program, file: &'p ProgramFile) -> Self {
        let inside = file.named_data.iter().map(|data| (data.key.as_str(), &data.range)).collect();
        Self { program, inside, missing: RefCell::default() }
    }

    /// The names asked for that there is no data of.
    pub(super) fn into_missing(self) -> Vec<String> {
        self.missing.into_inner().into_iter().collect()
    }
}

impl NamedData for Named<'_> {
    fn bytes(&self, key: &str) -> u64 {
        let outside = || Some(&self.program.external()?.find(key)?.range);
        match self.inside.get(key).copied().or_else(outside) {
            Some(range) => range.end - range.start,
            None => {
                self.missing.borrow_mut().insert(key.to_owned());
                ANY_LENGTH
            }
        }
    }

    fn read(&self, key: &str, bytes: u64) -> Option<Vec<u8>> {
        if let Some(range) = self.inside.get(key) {
            let range = range.start..range.start.saturating_add(bytes).min(range.end);
            return Some(self.program.read(range).map(|data| data.into_owned()).unwrap_or_default());
        }
        let data = self.program.external()?.data(key)?;
        Some(data[..data.len().min(usize::try_from(bytes).unwrap_or(usize::MAX))].to_vec())
    }
}
