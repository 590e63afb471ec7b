//! The filter `tojson`, which in transformers is Python's `json.dumps`.

use super::python;
use minijinja::value::{Kwargs, Rest, ValueKind};
use minijinja::{Error, ErrorKind, State, Value};
use std::fmt::Write;

/// `tojson(value, ensure_ascii=False, indent=None, separators=None, sort_keys=False)`.
pub(super) fn tojson(
    state: &State<'_, '_>,
    value: &Value,
    positional: Rest<Value>,
    named: Kwargs,
) -> Result<Value, Error> {
    if positional.len() > 4 {
        return Err(Error::from(ErrorKind::TooManyArguments));
    }
    let argument = |position: usize, name: &str| match positional.get(position) {
        Some(given) => Ok(given.clone()),
        None => named.get::<Option<Value>>(name).map(Option::unwrap_or_default),
    };
    let ensure_ascii = argument(0, "ensure_ascii")?.is_true();
    let indent = read_indent(&argument(1, "indent")?)?;
    let separators = argument(2, "separators")?;
    let sort_keys = argument(3, "sort_keys")?.is_true();
    named.assert_all_used()?;
    let (between, colon) = if is_absent(&separators) {
        (if indent.is_some() { "," } else { ", " }.to_owned(), ": ".to_owned())
    } else {
        let part = |index: usize| {
            let part = separators.get_item_by_index(index)?;
            part.as_str().map(str::to_owned).ok_or_else(|| wrong("separators must be two texts"))
        };
        (part(0)?, part(1)?)
    };
    let mut dump = Dump { out: String::new(), ensure_ascii, indent, between, colon, sort_keys, state };
    dump.value(value, 0)?;
    Ok(Value::from(dump.out))
}

fn is_absent(value: &Value) -> bool {
    value.is_undefined() || value.is_none()
}

fn wrong(reason: &'static str) -> Error {
    Error::new(ErrorKind::InvalidOperation, format!("tojson: {reason}"))
}

/// More spaces serve nobody.
const WIDEST_INDENT: i64 = 64;

fn read_indent(indent: &Value) -> Result<Option<String>, Error> {
    if is_absent(indent) {
        return Ok(None);
    }
    if let Some(text) = indent.as_str() {
        return Ok(Some(text.to_owned()));
    }
    let width = match indent.kind() {
        ValueKind::Bool => i64::from(indent.is_true()),
        _ => i64::try_from(indent.clone())?,
    };
    if width > WIDEST_INDENT {
        return Err(wrong("indent is too wide"));
    }
    Ok(Some(" ".repeat(usize::try_from(width).unwrap_or(0))))
}

struct Dump<'a, 'b, 'c> {
    out: String,
    ensure_ascii: bool,
    indent: Option<String>,
    between: String,
    colon: String,
    sort_keys: bool,
    state: &'a State<'b, 'c>,
}

impl Dump<'_, '_, '_> {
    fn value(&mut self, value: &Value, depth: usize) -> Result<(), Error> {
        if depth > python::DEEPEST {
            return Err(python::too_deep());
        }
        let before = self.out.len();
        match value.kind() {
            ValueKind::None => self.out.push_str("null"),
            ValueKind::Bool => self.out.push_str(if value.is_true() { "true" } else { "false" }),
            ValueKind::Number => self.number(value),
            ValueKind::String => self.string(value.as_str().unwrap_or_default()),
            ValueKind::Seq | ValueKind::Iterable => self.list(value, depth)?,
            ValueKind::Map => self.object(value, depth)?,
            ValueKind::Undefined => return Err(wrong("the value is not defined")),
            _ => return Err(wrong("the value has no form in JSON")),
        }
        // What it holds has been paid for by itself: this bounds the memory of values that hold others many times.
        self.state.consume_fuel(1 + (self.out.len() - before) as u64 / 64)
    }

    fn list(&mut self, value: &Value, depth: usize) -> Result<(), Error> {
        self.out.push('[');
        let mut any = false;
        for item in value.try_iter()? {
            self.before_item(any, depth + 1);
            any = true;
            self.value(&item, depth + 1)?;
        }
        self.close(any, depth, ']');
        Ok(())
    }

    fn object(&mut self, value: &Value, depth: usize) -> Result<(), Error> {
        let mut keys: Vec<Value> = value.try_iter()?.collect();
        if self.sort_keys {
            keys.sort();
        }
        self.out.push('{');
        let any = !keys.is_empty();
        for (index, key) in keys.iter().enumerate() {
            self.before_item(index > 0, depth + 1);
            let spelled = match key.kind() {
                ValueKind::None => "null".to_owned(),
                ValueKind::Bool => key.is_true().to_string(),
                ValueKind::Number => python::number(key),
                ValueKind::String => key.as_str().unwrap_or_default().to_owned(),
                _ => return Err(wrong("a key is neither a text nor a number")),
            };
            self.string(&spelled);
            self.out.push_str(&self.colon);
            self.value(&value.get_item(key)?, depth + 1)?;
        }
        self.close(any, depth, '}');
        Ok(())
    }

    fn before_item(&mut self, another: bool, depth: usize) {
        if another {
            self.out.push_str(&self.between);
        }
        self.line(depth);
    }

    fn close(&mut self, any: bool, depth: usize, bracket: char) {
        if any {
            self.line(depth);
        }
        self.out.push(bracket);
    }

    fn line(&mut self, depth: usize) {
        if let Some(indent) = &self.indent {
            self.out.push('\n');
            (0..depth).for_each(|_| self.out.push_str(indent));
        }
    }

    fn number(&mut self, value: &Value) {
        let number = python::number(value);
        self.out.push_str(match number.as_str() {
            "nan" => "NaN",
            "inf" => "Infinity",
            "-inf" => "-Infinity",
            other => other,
        });
    }

    fn string(&mut self, text: &str) {
        self.out.push('"');
        for character in text.chars() {
            match character {
                '"' => self.out.push_str("\\\""),
                '\\' => self.out.push_str("\\\\"),
                '\n' => self.out.push_str("\\n"),
                '\r' => self.out.push_str("\\r"),
                '\t' => self.out.push_str("\\t"),
                '\u{8}' => self.out.push_str("\\b"),
                '\u{c}' => self.out.push_str("\\f"),
                _ if character < ' ' || (self.ensure_ascii && character > '~') => {
                    for unit in character.encode_utf16(&mut [0; 2]) {
                        // Writing to a string can't fail.
                        let _ = write!(self.out, "\\u{unit:04x}");
                    }
                }
                _ => self.out.push(character),
            }
        }
        self.out.push('"');
    }
}
