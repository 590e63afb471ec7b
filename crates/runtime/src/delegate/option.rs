//! One option of a delegate: its name, type, allowed values, and by which way it reaches the delegate.

use std::fmt;

/// The most bytes of a text that ExecuTorch passes on (`kMaxOptionValueLength` of runtime/backend/options.h, less the
/// terminating zero).
pub(crate) const MAX_TEXT_BYTES: usize = 255;

/// An option that a delegate has at run time.
#[derive(Debug, PartialEq, Eq)]
pub struct OptionInfo {
    /// Its name, as ExecuTorch spells it.
    pub key: &'static str,
    /// Its type and allowed values.
    pub kind: OptionKind,
    /// What holds if it is not given, in words.
    pub default: &'static str,
    /// When the delegate reads it.
    pub scope: Scope,
    /// What it does, with units.
    pub meaning: &'static str,
}

/// The type of an option and the values that it may have.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum OptionKind {
    /// `true` or `false`.
    Bool,
    /// A whole number within these bounds.
    Int {
        /// The least.
        min: i32,
        /// The greatest.
        max: i32,
    },
    /// One of these names, each of which stands for a number.
    Choice(&'static [(&'static str, i32)]),
    /// One of these words.
    Word(&'static [&'static str]),
    /// A path of at most 255 bytes of UTF-8.
    Path,
}

/// When a delegate reads an option.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Scope {
    /// With each load (ExecuTorch's `LoadBackendOptionsMap`): it holds for that method only.
    Load,
    /// From the delegate itself (ExecuTorch's `set_option`): it holds for the process, until it is set anew.
    Process,
    /// Once, from the environment: it holds for the process, and can't change after the delegate's library was used.
    Environment,
}

/// The value of an option.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum OptionValue {
    /// A truth value.
    Bool(bool),
    /// A whole number; for a choice, the number that its name stands for.
    Int(i32),
    /// A word or path.
    Text(String),
}

impl OptionKind {
    /// Reads a value as people write it; `None` if it is not allowed.
    pub(crate) fn parse(self, text: &str) -> Option<OptionValue> {
        let value = match self {
            Self::Bool => OptionValue::Bool(text.parse().ok()?),
            Self::Int { .. } => OptionValue::Int(text.parse().ok()?),
            Self::Choice(choices) => {
                let named = choices.iter().find(|(name, _)| *name == text).map(|(_, number)| *number);
                OptionValue::Int(named.or_else(|| text.parse().ok())?)
            }
            Self::Word(_) | Self::Path => OptionValue::Text(text.to_owned()),
        };
        self.allows(&value).then_some(value)
    }

    pub(crate) fn allows(self, value: &OptionValue) -> bool {
        match (self, value) {
            (Self::Bool, OptionValue::Bool(_)) => true,
            (Self::Int { min, max }, OptionValue::Int(number)) => (min..=max).contains(number),
            (Self::Choice(choices), OptionValue::Int(number)) => {
                choices.iter().any(|(_, known)| known == number)
            }
            (Self::Word(words), OptionValue::Text(text)) => words.contains(&text.as_str()),
            (Self::Path, OptionValue::Text(text)) => {
                !text.is_empty() && text.len() <= MAX_TEXT_BYTES && !text.contains('\0')
            }
            _ => false,
        }
    }
}

/// The allowed values, in words.
impl fmt::Display for OptionKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Bool => f.write_str("true or false"),
            Self::Int { min, max: i32::MAX } => write!(f, "a whole number from {min}"),
            Self::Int { min, max } => write!(f, "a whole number from {min} to {max}"),
            Self::Choice(choices) => {
                let names: Vec<_> =
                    choices.iter().map(|(name, number)| format!("{name} ({number})")).collect();
                f.write_str(&names.join(", "))
            }
            Self::Word(words) => f.write_str(&words.join(", ")),
            Self::Path => write!(f, "a path of 1 to {MAX_TEXT_BYTES} bytes"),
        }
    }
}

impl fmt::Display for OptionValue {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Bool(value) => write!(f, "{value}"),
            Self::Int(value) => write!(f, "{value}"),
            Self::Text(value) => f.write_str(value),
        }
    }
}
