//! The metadata at the beginning of a GGUF file (ggml-org/ggml, `docs/gguf.md`), of which the tokenizer's is kept.

use super::super::pipeline::damaged;
use crate::error::Result;
use std::collections::HashMap;

/// Arrays in arrays in arrays are for no tokenizer.
const DEEPEST_ARRAY: u32 = 2;

/// A value that a tokenizer can have.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum Value {
    Number(i64),
    Float(f64),
    Flag(bool),
    Text(String),
    Bytes(Vec<u8>),
    Numbers(Vec<i64>),
    Floats(Vec<f32>),
    Texts(Vec<String>),
    /// Of a kind that is not read.
    Other,
}

/// The values under `tokenizer.`, by the rest of their keys.
pub(super) struct Metadata(HashMap<String, Value>);

impl Metadata {
    /// Reads them of a file's beginning.
    pub(super) fn read(contents: &[u8], name: &str) -> Result<Self> {
        let bad = |what: &str| damaged(name, format!("{what}, so that it is no usable GGUF file"));
        let mut reader = Reader { rest: contents };
        let cut = || bad("its metadata is cut short or damaged");
        reader.take(4).ok_or_else(cut)?;
        let version = reader.u32().ok_or_else(cut)?;
        if !(2..=3).contains(&version) {
            return Err(bad(&format!("its version is {version}; 2 and 3 can be read")));
        }
        let _tensors = reader.u64().ok_or_else(cut)?;
        let pairs = reader.u64().ok_or_else(cut)?;
        let mut values = HashMap::new();
        for _ in 0..pairs {
            let key = reader.text().ok_or_else(cut)?;
            let kind = reader.u32().ok_or_else(cut)?;
            match key.strip_prefix("tokenizer.") {
                Some(key) => {
                    let value = reader.value(kind).ok_or_else(cut)?;
                    if values.insert(key.to_owned(), value).is_some() {
                        return Err(bad("a key is there twice"));
                    }
                }
                None => reader.skip(kind, 0).ok_or_else(cut)?,
            }
        }
        Ok(Self(values))
    }

    pub(super) fn text(&self, key: &str) -> Option<&str> {
        if let Value::Text(text) = self.0.get(key)? { Some(text) } else { None }
    }

    pub(super) fn texts(&self, key: &str) -> Option<&[String]> {
        if let Value::Texts(texts) = self.0.get(key)? { Some(texts) } else { None }
    }

    pub(super) fn numbers(&self, key: &str) -> Option<&[i64]> {
        if let Value::Numbers(numbers) = self.0.get(key)? { Some(numbers) } else { None }
    }

    pub(super) fn floats(&self, key: &str) -> Option<&[f32]> {
        if let Value::Floats(floats) = self.0.get(key)? { Some(floats) } else { None }
    }

    pub(super) fn bytes(&self, key: &str) -> Option<&[u8]> {
        if let Value::Bytes(bytes) = self.0.get(key)? { Some(bytes) } else { None }
    }

    pub(super) fn flag(&self, key: &str) -> Option<bool> {
        if let Value::Flag(flag) = self.0.get(key)? { Some(*flag) } else { None }
    }

    pub(super) fn number(&self, key: &str) -> Option<i64> {
        if let Value::Number(number) = self.0.get(key)? { Some(*number) } else { None }
    }
}

struct Reader<'a> {
    rest: &'a [u8],
}

impl<'a> Reader<'a> {
    fn take(&mut self, bytes: u64) -> Option<&'a [u8]> {
        let (taken, rest) = self.rest.split_at_checked(usize::try_from(bytes).ok()?)?;
        self.rest = rest;
        Some(taken)
    }

    fn array<const N: usize>(&mut self) -> Option<[u8; N]> {
        self.take(N as u64)?.try_into().ok()
    }

    fn u32(&mut self) -> Option<u32> {
        self.array().map(u32::from_le_bytes)
    }

    fn u64(&mut self) -> Option<u64> {
        self.array().map(u64::from_le_bytes)
    }

    fn text(&mut self) -> Option<String> {
        let length = self.u64()?;
        std::str::from_utf8(self.take(length)?).ok().map(str::to_owned)
    }

    /// One number, of the kinds that are whole.
    fn number(&mut self, kind: u32) -> Option<i64> {
        Some(match kind {
            0 => i64::from(self.array::<1>()?[0]),
            1 => i64::from(i8::from_le_bytes(self.array()?)),
            2 => i64::from(u16::from_le_bytes(self.array()?)),
            3 => i64::from(i16::from_le_bytes(self.array()?)),
            4 => i64::from(self.u32()?),
            5 => i64::from(i32::from_le_bytes(self.array()?)),
            10 | 11 => i64::from_le_bytes(self.array()?),
            _ => return None,
        })
    }

    fn value(&mut self, kind: u32) -> Option<Value> {
        Some(match kind {
            6 => Value::Float(f32::from_le_bytes(self.array()?).into()),
            7 => Value::Flag(self.array::<1>()?[0] != 0),
            8 => Value::Text(self.text()?),
            9 => {
                let (kind, length) = (self.u32()?, self.u64()?);
                // Each element takes a byte or more.
                let length = usize::try_from(length).ok().filter(|&length| length <= self.rest.len())?;
                match kind {
                    0 | 1 => Value::Bytes(self.take(length as u64)?.to_vec()),
                    2..=5 | 10 | 11 => {
                        Value::Numbers((0..length).map(|_| self.number(kind)).collect::<Option<_>>()?)
                    }
                    6 => Value::Floats(
                        (0..length).map(|_| self.array().map(f32::from_le_bytes)).collect::<Option<_>>()?,
                    ),
                    8 => Value::Texts((0..length).map(|_| self.text()).collect::<Option<_>>()?),
                    _ => {
                        (0..length).try_for_each(|_| self.skip(kind, 1))?;
                        Value::Other
                    }
                }
            }
            12 => Value::Float(f64::from_le_bytes(self.array()?)),
            _ => Value::Number(self.number(kind)?),
        })
    }

    fn skip(&mut self, kind: u32, depth: u32) -> Option<()> {
        let width = |kind| match kind {
            0 | 1 | 7 => Some(1),
            2 | 3 => Some(2),
            4..=6 => Some(4),
            10..=12 => Some(8),
            _ => None,
        };
        match kind {
            8 => self.u64().and_then(|length| self.take(length)).map(drop),
            9 if depth <= DEEPEST_ARRAY => {
                let (kind, length) = (self.u32()?, self.u64()?);
                if let Some(width) = width(kind) {
                    return self.take(length.checked_mul(width)?).map(drop);
                }
                (0..length).try_for_each(|_| self.skip(kind, depth + 1))
            }
            _ => self.take(width(kind)?).map(drop),
        }
    }
}
