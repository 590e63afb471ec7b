//! `strftime_now`, as Python's `datetime.now().strftime`.

use chrono::NaiveDateTime;
use chrono::format::StrftimeItems;
use minijinja::{Error, ErrorKind};

/// `now` in the way that `format` says.
pub(super) fn strftime(now: NaiveDateTime, format: &str) -> Result<String, Error> {
    let format = translated(format);
    let items = StrftimeItems::new(&format).parse().map_err(|_| {
        Error::new(ErrorKind::InvalidOperation, format!("strftime_now: {format:?} is not a date's format"))
    })?;
    let mut out = String::new();
    match std::fmt::Write::write_fmt(&mut out, format_args!("{}", now.format_with_items(items.iter()))) {
        Ok(()) => Ok(out),
        Err(_) => {
            let reason = format!("strftime_now: {format:?} asks for what a local date does not tell");
            Err(Error::new(ErrorKind::InvalidOperation, reason))
        }
    }
}

/// Python's directives in chrono's words: microseconds have six digits, and a date without a zone says none.
fn translated(format: &str) -> String {
    let mut out = String::new();
    let mut rest = format.chars();
    while let Some(character) = rest.next() {
        if character != '%' {
            out.push(character);
            continue;
        }
        match rest.next() {
            Some('f') => out.push_str("%6f"),
            Some('z' | 'Z') => {}
            Some(other) => out.extend(['%', other]),
            None => out.push_str("%%"),
        }
    }
    out
}
