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
        "casefold" => {
            from_args::<()>(args)?;
            Value::from(text.to_lowercase())
        }
        _ => return Ok(None),
    };
    Ok(Some(answer))
}
