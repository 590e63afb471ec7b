//! Calls as Python writes them: `name(key="value", other=[1, 2])`, alone, one a line or in a list.

use super::ToolCall;
use serde_json::{Map, Number, Value};

/// Brackets within brackets.
const MAX_DEPTH: usize = 50;

/// The calls of `text`. Arguments are literals and have names.
pub(super) fn calls(text: &str) -> Vec<Result<ToolCall, String>> {
    match Reader::new(text).calls() {
        Ok(calls) if calls.is_empty() => vec![Err("there is no call in it".into())],
        Ok(calls) => calls.into_iter().map(Ok).collect(),
        Err(reason) => vec![Err(reason)],
    }
}

fn too_deep() -> String {
    format!("it nests more than {MAX_DEPTH} levels deep")
}

struct Reader<'a> {
    text: &'a str,
    at: usize,
}

impl<'a> Reader<'a> {
    fn new(text: &'a str) -> Self {
        Self { text, at: 0 }
    }

    fn calls(mut self) -> Result<Vec<ToolCall>, String> {
        self.spaces();
        let in_list = self.takes("[");
        let mut calls = Vec::new();
        loop {
            self.separators();
            if (in_list && self.takes("]")) || self.rest().is_empty() {
                break;
            }
            calls.push(self.call(MAX_DEPTH)?);
        }
        self.spaces();
        if self.rest().is_empty() { Ok(calls) } else { Err(self.unexpected()) }
    }

    /// `print(…)` around a call, a module before its name and Llama's `.call` after it are no part of it.
    fn call(&mut self, depth: usize) -> Result<ToolCall, String> {
        if depth == 0 {
            return Err(too_deep());
        }
        let path = self.name()?;
        self.spaces();
        if !self.takes("(") {
            return Err(self.unexpected());
        }
        self.spaces();
        if path == "print" {
            let call = self.call(depth - 1)?;
            self.spaces();
            return if self.takes(")") { Ok(call) } else { Err(self.unexpected()) };
        }
        let name = path.strip_suffix(".call").unwrap_or(path);
        let name = name.strip_prefix("default_api.").unwrap_or(name);
        let mut arguments = Map::new();
        loop {
            self.spaces();
            if self.takes(")") {
                return Ok(ToolCall { name: name.to_owned(), arguments, id: None });
            }
            let key = self.name()?.to_owned();
            self.spaces();
            if !self.takes("=") {
                return Err("an argument has no name".into());
            }
            let value = self.value(MAX_DEPTH)?;
            arguments.insert(key, value);
            self.comma(")")?;
        }
    }

    fn value(&mut self, depth: usize) -> Result<Value, String> {
        if depth == 0 {
            return Err(too_deep());
        }
        self.spaces();
        match self.rest().chars().next() {
            Some('"' | '\'') => self.string().map(Value::String),
            Some('[') => self.list("[", "]", depth),
            Some('(') => self.list("(", ")", depth),
            Some('{') => self.dictionary(depth),
            Some('-' | '+' | '.' | '0'..='9') => self.number(),
            _ => match self.name()? {
                "True" | "true" => Ok(Value::Bool(true)),
                "False" | "false" => Ok(Value::Bool(false)),
                "None" | "null" => Ok(Value::Null),
                name => Err(format!("`{name}` is no literal")),
            },
        }
    }

    fn list(&mut self, open: &str, close: &str, depth: usize) -> Result<Value, String> {
        self.takes(open);
        let mut items = Vec::new();
        loop {
            self.spaces();
            if self.takes(close) {
                return Ok(Value::Array(items));
            }
            items.push(self.value(depth - 1)?);
            self.comma(close)?;
        }
    }

    fn dictionary(&mut self, depth: usize) -> Result<Value, String> {
        self.takes("{");
        let mut members = Map::new();
        loop {
            self.spaces();
            if self.takes("}") {
                return Ok(Value::Object(members));
            }
            let key = match self.value(depth - 1)? {
                Value::String(key) => key,
                other => other.to_string(),
            };
            self.spaces();
            if !self.takes(":") {
                return Err(self.unexpected());
            }
            let value = self.value(depth - 1)?;
            members.insert(key, value);
            self.comma("}")?;
        }
    }

    fn number(&mut self) -> Result<Value, String> {
        let is_part = |character: char| character.is_ascii_alphanumeric() || "+-._".contains(character);
        let text = self.while_true(is_part).replace('_', "");
        let text = text.strip_prefix('+').unwrap_or(&text);
        let whole = text.parse::<i64>().ok().map(Number::from);
        let number = whole.or_else(|| text.parse().ok().and_then(Number::from_f64));
        number.map(Value::Number).ok_or_else(|| format!("`{text}` is no number"))
    }

    fn string(&mut self) -> Result<String, String> {
        let quote = ["\"\"\"", "'''", "\"", "'"].into_iter().find(|&quote| self.takes(quote));
        let quote = quote.ok_or_else(|| self.unexpected())?;
        let mut text = String::new();
        while !self.takes(quote) {
            match self.next().ok_or("a string does not end")? {
                '\\' => self.escape(&mut text)?,
                character => text.push(character),
            }
        }
        Ok(text)
    }

    fn escape(&mut self, text: &mut String) -> Result<(), String> {
        let character = self.next().ok_or("a string does not end")?;
        let digits = match character {
            'x' => 2,
            'u' => 4,
            'U' => 8,
            _ => {
                match character {
                    'n' => text.push('\n'),
                    't' => text.push('\t'),
                    'r' => text.push('\r'),
                    '\n' => {}
                    '\\' | '"' | '\'' => text.push(character),
                    other => text.extend(['\\', other]),
                }
                return Ok(());
            }
        };
        let code = self.rest().get(..digits).and_then(|digits| u32::from_str_radix(digits, 16).ok());
        text.push(code.and_then(char::from_u32).ok_or("an escape is no character")?);
        self.at += digits;
        Ok(())
    }

    fn name(&mut self) -> Result<&'a str, String> {
        let name = self.while_true(|character| character.is_alphanumeric() || "_-.".contains(character));
        if name.is_empty() || name.starts_with(|first: char| first.is_ascii_digit()) {
            return Err(self.unexpected());
        }
        Ok(name)
    }

    /// A comma, unless `close` comes next.
    fn comma(&mut self, close: &str) -> Result<(), String> {
        self.spaces();
        if self.takes(",") || self.rest().starts_with(close) { Ok(()) } else { Err(self.unexpected()) }
    }

    fn rest(&self) -> &'a str {
        &self.text[self.at..]
    }

    fn next(&mut self) -> Option<char> {
        let character = self.rest().chars().next()?;
        self.at += character.len_utf8();
        Some(character)
    }

    fn takes(&mut self, token: &str) -> bool {
        let found = self.rest().starts_with(token);
        self.at += if found { token.len() } else { 0 };
        found
    }

    fn while_true(&mut self, holds: impl Fn(char) -> bool) -> &'a str {
        let rest = self.rest();
        let end = rest.find(|character| !holds(character)).unwrap_or(rest.len());
        self.at += end;
        &rest[..end]
    }

    fn spaces(&mut self) {
        self.while_true(char::is_whitespace);
    }

    fn separators(&mut self) {
        self.while_true(|character| character.is_whitespace() || character == ',' || character == ';');
    }

    fn unexpected(&self) -> String {
        match self.rest().chars().next() {
            Some(character) => format!("`{character}` is unexpected at byte {}", self.at),
            None => "it breaks off".into(),
        }
    }
}
