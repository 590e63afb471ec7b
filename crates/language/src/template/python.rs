//! How Python writes values: templates were written for it.

use minijinja::value::ValueKind;
use minijinja::{Error, ErrorKind, Value};
use std::fmt::Write;

/// Deeper values are refused: writing them would use up the stack.
pub(super) const DEEPEST: usize = 100;

/// Longer texts of lists and dictionaries are refused: one that holds another twice doubles at each level.
const LONGEST: usize = 1 << 22;

/// `str(value)`.
pub(super) fn text(value: &Value) -> Result<String, Error> {
    match value.kind() {
        ValueKind::Undefined => Ok(String::new()),
        ValueKind::String => Ok(value.as_str().map_or_else(|| value.to_string(), str::to_owned)),
        _ => {
            let mut out = String::new();
            repr(value, &mut out, 0)?;
            Ok(out)
        }
    }
}

/// `repr(value)`, after `out`.
fn repr(value: &Value, out: &mut String, depth: usize) -> Result<(), Error> {
    if depth > DEEPEST {
        return Err(too_deep());
    }
    if out.len() > LONGEST {
        let reason = format!("a value has more than {LONGEST} bytes as text");
        return Err(Error::new(ErrorKind::InvalidOperation, reason));
    }
    match value.kind() {
        ValueKind::Undefined => out.push_str("Undefined"),
        ValueKind::None => out.push_str("None"),
        ValueKind::Bool => out.push_str(if value.is_true() { "True" } else { "False" }),
        ValueKind::Number => out.push_str(&number(value)),
        ValueKind::String => quoted(value.as_str().unwrap_or_default(), out),
        ValueKind::Seq | ValueKind::Iterable => {
            let (open, close) = if value.is_tuple() { ('(', ')') } else { ('[', ']') };
            out.push(open);
            let mut items = 0;
            for item in value.try_iter()? {
                if items > 0 {
                    out.push_str(", ");
                }
                repr(&item, out, depth + 1)?;
                items += 1;
            }
            if value.is_tuple() && items == 1 {
                out.push(',');
            }
            out.push(close);
        }
        ValueKind::Map => {
            out.push('{');
            for (index, key) in value.try_iter()?.enumerate() {
                if index > 0 {
                    out.push_str(", ");
                }
                repr(&key, out, depth + 1)?;
                out.push_str(": ");
                repr(&value.get_item(&key)?, out, depth + 1)?;
            }
            out.push('}');
        }
        _ => out.push_str(&value.to_string()),
    }
    Ok(())
}

/// A number, as `repr` and JSON have it.
pub(super) fn number(value: &Value) -> String {
    match f64::try_from(value.clone()) {
        Ok(float) if !value.is_integer() => float_repr(float),
        _ => value.to_string(),
    }
}

fn float_repr(float: f64) -> String {
    if float.is_nan() {
        return "nan".to_owned();
    }
    // The shortest digits, and the same bounds for exponents, which only are spelled in another way.
    let digits = format!("{float:?}");
    match digits.split_once('e') {
        None => digits,
        Some((mantissa, exponent)) => {
            let (sign, exponent) =
                exponent.strip_prefix('-').map_or(('+', exponent), |exponent| ('-', exponent));
            format!("{mantissa}e{sign}{exponent:0>2}")
        }
    }
}

fn quoted(text: &str, out: &mut String) {
    let quote = if text.contains('\'') && !text.contains('"') { '"' } else { '\'' };
    out.push(quote);
    for character in text.chars() {
        match character {
            '\\' => out.push_str("\\\\"),
            '\n' => out.push_str("\\n"),
            '\r' => out.push_str("\\r"),
            '\t' => out.push_str("\\t"),
            _ if character == quote => out.extend(['\\', character]),
            _ if is_printable(character) => out.push(character),
            _ => {
                let code = u32::from(character);
                // Writing to a string can't fail.
                let _ = match code {
                    0..=0xff => write!(out, "\\x{code:02x}"),
                    0x100..=0xffff => write!(out, "\\u{code:04x}"),
                    _ => write!(out, "\\U{code:08x}"),
                };
            }
        }
    }
    out.push(quote);
}

/// Whether `repr` leaves the character as it is: not spaces, controls, formats and private ones.
fn is_printable(character: char) -> bool {
    let unseen = matches!(u32::from(character),
        0xad | 0x600..=0x605 | 0x61c | 0x6dd | 0x70f | 0x180e | 0x200b..=0x200f | 0x202a..=0x202e
        | 0x2060..=0x206f | 0xe000..=0xf8ff | 0xfeff | 0xfff9..=0xfffb | 0xe0000..=0xe00ff | 0xe01f0..=0x10_ffff);
    character == ' ' || !(unseen || character.is_control() || character.is_whitespace())
}

/// Whether Python counts the character as white space: Unicode's, and four separators among the controls.
pub(super) fn is_space(character: char) -> bool {
    character.is_whitespace() || matches!(character, '\u{1c}'..='\u{1f}')
}

pub(super) fn too_deep() -> Error {
    Error::new(ErrorKind::InvalidOperation, format!("a value is nested more than {DEEPEST} deep"))
}
