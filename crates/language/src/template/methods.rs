//! Python's methods of texts, lists and dictionaries.

use super::python::is_space;
use minijinja::value::{Tuple, from_args};
use minijinja::{Error, ErrorKind, State, Value};

/// Those that `minijinja_contrib` lacks or has in another way, and its own.
pub(super) fn call(
    state: &mut State<'_, '_>,
    value: &Value,
    method: &str,
    args: &[Value],
) -> Result<Value, Error> {
    if let Some(text) = value.as_str()
        && let Some(answer) = of_text(text, method, args)?
    {
        return Ok(answer);
    }
    match (method, value.kind()) {
        ("copy", minijinja::value::ValueKind::Map | minijinja::value::ValueKind::Seq) => {
            from_args::<()>(args)?;
            Ok(value.clone())
        }
        ("index", minijinja::value::ValueKind::Seq) => {
            let (wanted,): (Value,) = from_args(args)?;
            let position = value.try_iter()?.position(|item| item == wanted);
            position.map(Value::from).ok_or_else(|| absent("the item is not in the list"))
        }
        _ => minijinja_contrib::pycompat::unknown_method_callback(state, value, method, args),
    }
}

fn absent(reason: &'static str) -> Error {
    Error::new(ErrorKind::InvalidOperation, reason)
}

fn of_text(text: &str, method: &str, args: &[Value]) -> Result<Option<Value>, Error> {
    let answer = match method {
        "strip" | "lstrip" | "rstrip" => {
            let (characters,): (Option<&str>,) = from_args(args)?;
            let dropped = |c: char| characters.map_or_else(|| is_space(c), |all| all.contains(c));
            Value::from(match method {
                "strip" => text.trim_matches(dropped),
                "lstrip" => text.trim_start_matches(dropped),
                _ => text.trim_end_matches(dropped),
            })
        }
        "removeprefix" => {
            let (prefix,): (&str,) = from_args(args)?;
            Value::from(text.strip_prefix(prefix).unwrap_or(text))
        }
        "removesuffix" => {
            let (suffix,): (&str,) = from_args(args)?;
            Value::from(text.strip_suffix(suffix).unwrap_or(text))
        }
        "partition" | "rpartition" => {
            let (separator,): (&str,) = from_args(args)?;
            if separator.is_empty() {
                return Err(absent("empty separator"));
            }
            let found =
                if method == "partition" { text.split_once(separator) } else { text.rsplit_once(separator) };
            let [a, b, c] = match found {
                Some((before, after)) => [before, separator, after],
                None if method == "partition" => [text, "", ""],
                None => ["", "", text],
            };
            Value::from(Tuple::from([a, b, c].map(Value::from)))
        }
        "rsplit" => {
            let (separator, most): (&str, Option<usize>) = from_args(args)?;
            if separator.is_empty() {
                return Err(absent("empty separator"));
            }
            let mut parts: Vec<Value> = match most {
                Some(most) => text.rsplitn(most.saturating_add(1), separator).map(Value::from).collect(),
                None => text.rsplit(separator).map(Value::from).collect(),
            };
            parts.reverse();
            Value::from(parts)
        }
        "index" => {
            let (wanted,): (&str,) = from_args(args)?;
            let position = text.find(wanted).map(|at| text[..at].chars().count());
            return position.map(|at| Some(Value::from(at))).ok_or_else(|| absent("substring not found"));
        }
        "title" => {
            from_args::<()>(args)?;
            Value::from(title(text))
        }
        "split" if args.is_empty() => {
            text.split(is_space).filter(|word| !word.is_empty()).map(Value::from).collect()
        }
        "splitlines" => {
            let (keep,): (Option<bool>,) = from_args(args)?;
            Value::from(lines(text, keep.unwrap_or(false)))
        }
        "casefold" => {
            from_args::<()>(args)?;
            Value::from(text.to_lowercase())
        }
        _ => return Ok(None),
    };
    Ok(Some(answer))
}

/// Every letter that follows no other in upper case, the others in lower case.
fn title(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let mut inside = false;
    for character in text.chars() {
        if inside {
            out.extend(character.to_lowercase());
        } else {
            // Where it takes several letters, only the first of them is a capital.
            let mut upper = character.to_uppercase();
            out.extend(upper.next());
            out.extend(upper.flat_map(char::to_lowercase));
        }
        inside = character.is_lowercase() || character.is_uppercase();
    }
    out
}

/// The lines of `text`: Python knows more line ends than `\n`.
fn lines(mut text: &str, keep: bool) -> Vec<Value> {
    let mut lines = Vec::new();
    while let Some((at, end)) = text.char_indices().find(|&(_, c)| {
        matches!(
            c,
            '\n' | '\r' | '\u{b}' | '\u{c}' | '\u{1c}'..='\u{1e}' | '\u{85}' | '\u{2028}' | '\u{2029}'
        )
    }) {
        let length = if text[at..].starts_with("\r\n") { 2 } else { end.len_utf8() };
        lines.push(Value::from(&text[..if keep { at + length } else { at }]));
        text = &text[at + length..];
    }
    if !text.is_empty() {
        lines.push(Value::from(text));
    }
    lines
}
