//! Options that were chosen, for any number of delegates.

use super::option::{OptionInfo, OptionValue};
use super::{DelegateInfo, find};
use crate::error::{Error, Result};
use std::path::Path;

/// Options for delegates, each checked when it was set. Those of delegates that a method does not use are ignored
/// when it is loaded, so that an app can give one set for all its models.
///
/// ```
/// use nearside_runtime::delegate::{DelegateOptions, WorkspaceSharing, XnnpackOptions};
///
/// # fn main() -> nearside_runtime::Result<()> {
/// let typed = DelegateOptions::try_from(XnnpackOptions {
///     workspace_sharing: Some(WorkspaceSharing::PerModel),
///     ..XnnpackOptions::default()
/// })?;
/// let by_name = DelegateOptions::parse("xnnpack", &[("workspace_sharing_mode", "per-model")])?;
/// assert_eq!(typed, by_name);
/// # Ok(())
/// # }
/// ```
#[derive(Debug, Clone, Default)]
pub struct DelegateOptions {
    chosen: Vec<ChosenOption>,
}

/// One option with its value.
#[derive(Debug, Clone)]
pub struct ChosenOption {
    /// Whose option it is.
    pub delegate: &'static DelegateInfo,
    /// Which.
    pub option: &'static OptionInfo,
    /// Its value.
    pub value: OptionValue,
}

impl PartialEq for ChosenOption {
    fn eq(&self, other: &Self) -> bool {
        (self.delegate.id, self.option, &self.value) == (other.delegate.id, other.option, &other.value)
    }
}

impl Eq for ChosenOption {}

/// The order in which options were set does not matter.
impl PartialEq for DelegateOptions {
    fn eq(&self, other: &Self) -> bool {
        self.chosen.len() == other.chosen.len() && self.chosen.iter().all(|one| other.chosen.contains(one))
    }
}

impl Eq for DelegateOptions {}

impl DelegateOptions {
    /// None.
    pub fn new() -> Self {
        Self::default()
    }

    /// Reads the options of one delegate, given by its id or short name, from names and values as people write them.
    ///
    /// # Errors
    /// [`Error::UnknownDelegate`], [`Error::UnknownDelegateOption`] or [`Error::DelegateOptionValue`], each with what
    /// is allowed.
    pub fn parse(delegate: &str, options: &[(&str, &str)]) -> Result<Self> {
        let delegate = find(delegate)?;
        let mut chosen = Self::new();
        for (key, text) in options {
            let option = delegate.option(key)?;
            let value = option.kind.parse(text).ok_or_else(|| refused(delegate, option, text))?;
            chosen.put(ChosenOption { delegate, option, value });
        }
        Ok(chosen)
    }

    /// Sets one option; an earlier value of it is replaced.
    ///
    /// # Errors
    /// As [`DelegateOptions::parse`].
    pub fn set(&mut self, delegate: &str, key: &str, value: OptionValue) -> Result<()> {
        let delegate = find(delegate)?;
        let option = delegate.option(key)?;
        if !option.kind.allows(&value) {
            return Err(refused(delegate, option, &value.to_string()));
        }
        self.put(ChosenOption { delegate, option, value });
        Ok(())
    }

    /// Sets a path option.
    pub(crate) fn set_path(&mut self, delegate: &'static DelegateInfo, key: &str, path: &Path) -> Result<()> {
        let option = delegate.option(key)?;
        let text = path.to_str().ok_or_else(|| refused(delegate, option, &path.display().to_string()))?;
        self.set(delegate.id, key, OptionValue::Text(text.to_owned()))
    }

    /// These and `other`, whose values win.
    #[must_use]
    pub fn with(mut self, other: Self) -> Self {
        for one in other.chosen {
            self.put(one);
        }
        self
    }

    /// All that were set.
    pub fn iter(&self) -> std::slice::Iter<'_, ChosenOption> {
        self.chosen.iter()
    }

    /// The value of one option, if it was set.
    pub fn get(&self, delegate: &str, key: &str) -> Option<&OptionValue> {
        let same = |one: &&ChosenOption| one.delegate.id == delegate && one.option.key == key;
        self.chosen.iter().find(same).map(|one| &one.value)
    }

    /// Those of one delegate.
    pub(crate) fn of(&self, delegate: &str) -> Self {
        let mine = self.chosen.iter().filter(|one| one.delegate.id == delegate);
        Self { chosen: mine.cloned().collect() }
    }

    fn put(&mut self, new: ChosenOption) {
        self.chosen.retain(|old| (old.delegate.id, old.option.key) != (new.delegate.id, new.option.key));
        self.chosen.push(new);
    }
}

impl<'a> IntoIterator for &'a DelegateOptions {
    type Item = &'a ChosenOption;
    type IntoIter = std::slice::Iter<'a, ChosenOption>;

    fn into_iter(self) -> Self::IntoIter {
        self.iter()
    }
}

fn refused(delegate: &DelegateInfo, option: &OptionInfo, value: &str) -> Error {
    Error::DelegateOptionValue {
        delegate: delegate.id.to_owned(),
        option: option.key.to_owned(),
        value: value.to_owned(),
        allowed: option.kind.to_string(),
    }
}
