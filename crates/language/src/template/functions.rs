//! What templates can call: the functions, filters and tests that transformers gives them.

use super::{json, python};
use minijinja::value::{Value, ValueKind};
use minijinja::{Environment, Error, ErrorKind, State};
use std::fmt;

/// Puts them into `environment`.
pub(super) fn add(environment: &mut Environment<'static>) {
    environment.add_function("raise_exception", |message: Value| -> Result<Value, Error> {
        let message = python::text(&message)?;
        Err(Error::new(ErrorKind::InvalidOperation, message.clone()).with_source(Raised(message)))
    });
    environment.add_filter("tojson", json::tojson);
    environment.add_filter("string", |value: &Value| python::text(value));
    environment.add_filter("trim", |value: &Value| -> Result<String, Error> {
        Ok(python::text(value)?.trim_matches(python::is_space).to_owned())
    });
    // In Python, texts and dictionaries are sequences too.
    environment.add_test("sequence", |value: &Value| {
        matches!(value.kind(), ValueKind::String | ValueKind::Seq | ValueKind::Map | ValueKind::Undefined)
    });
    environment.set_unknown_method_callback(super::methods::call);
    environment.set_formatter(|out, _: &mut State<'_, '_>, value| {
        let written = match value.as_str() {
            Some(text) => out.write_str(text),
            None => out.write_str(&python::text(value)?),
        };
        written.map_err(|_| Error::new(ErrorKind::WriteFailure, "the text can't be written"))
    });
}

/// What a template said with `raise_exception`.
#[derive(Debug)]
pub(super) struct Raised(pub(super) String);

impl fmt::Display for Raised {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl std::error::Error for Raised {}
