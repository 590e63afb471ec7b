//! The methods that a decoder's program has: `forward` alone, or `prefill` and `decode`, and for several rows of logits at once `verify`.

use super::facts::not_a_decoder;
use crate::error::{Error, Result};
use nearside_runtime::{
    DType, LoadOptions, Method, MethodGroup, MethodMeta, Outputs, Program, Snapshot, TensorMeta, TensorRef,
};

/// Takes any number of tokens.
pub(super) const FORWARD: &str = "forward";
/// Takes several tokens.
pub(super) const PREFILL: &str = "prefill";
/// Takes one token.
pub(super) const DECODE: &str = "decode";
/// Takes several tokens and gives the logits of each.
pub(super) const VERIFY: &str = "verify";

/// What is loaded.
#[derive(Debug)]
pub(super) enum Loaded {
    One(Box<Method>),
    Group(Box<MethodGroup>),
}

impl Loaded {
    pub(super) fn load(program: &Program, names: &[String], options: &LoadOptions) -> Result<Self> {
        match names {
            [only] => Ok(Self::One(Box::new(program.load_method_with(only, options)?))),
            several => {
                let names: Vec<&str> = several.iter().map(String::as_str).collect();
                Ok(Self::Group(Box::new(program.load_group(&names, options)?)))
            }
        }
    }

    pub(super) fn methods(&self) -> &[Method] {
        match self {
            Self::One(method) => std::slice::from_ref(method),
            Self::Group(group) => group.methods(),
        }
    }

    pub(super) fn execute<'a>(&'a mut self, name: &str, inputs: &[TensorRef<'a>]) -> Result<Outputs<'a>> {
        Ok(match self {
            Self::One(method) => method.execute(inputs)?,
            Self::Group(group) => group.execute(name, inputs)?,
        })
    }

    pub(super) fn snapshot(&self) -> Result<Snapshot> {
        Ok(match self {
            Self::One(method) => method.snapshot_state()?,
            Self::Group(group) => group.snapshot_state()?,
        })
    }

    pub(super) fn check(&self, snapshot: &Snapshot) -> Result<()> {
        match self {
            Self::One(method) => method.check_snapshot(snapshot)?,
            Self::Group(group) => group.check_snapshot(snapshot)?,
        }
        Ok(())
    }

    pub(super) fn restore(&mut self, snapshot: &Snapshot) -> Result<()> {
        match self {
            Self::One(method) => method.restore(snapshot)?,
            Self::Group(group) => group.restore(snapshot)?,
        }
        Ok(())
    }

    pub(super) fn reset(&mut self) -> Result<()> {
        match self {
            Self::One(method) => method.reset()?,
            Self::Group(group) => group.reset()?,
        }
        Ok(())
    }
}

/// How a method is called.
#[derive(Debug, Clone)]
pub(super) struct Entry {
    pub(super) name: String,
    /// The most tokens of a call.
    pub(super) most: usize,
    /// Whether it takes fewer than `most`.
    pub(super) fewer: bool,
    pub(super) position: Position,
    /// Whether it gives the logits of each row, not of the last one only.
    pub(super) all_rows: bool,
}

/// The second input.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Position {
    /// Of each token.
    Each,
    /// Of the first one.
    First,
}

impl Entry {
    /// Reads what a method takes and gives.
    pub(super) fn read(program: &Program, meta: &MethodMeta, vocab_size: usize) -> Result<Self> {
        let wrong = |what: String| not_a_decoder(program, format!("its method `{}` {what}", meta.name));
        let [tokens, position] = &meta.inputs[..] else {
            return Err(wrong(format!(
                "takes {} inputs, not tokens and their position in the KV cache",
                meta.inputs.len()
            )));
        };
        let integers = |tensor: Option<&TensorMeta>, rank: usize| -> Option<(usize, bool)> {
            let tensor = tensor.filter(|tensor| tensor.dtype == DType::I64 && tensor.sizes.len() == rank)?;
            let (last, before) = tensor.sizes.split_last()?;
            let length = usize::try_from(*last).ok().filter(|&length| length > 0)?;
            before.iter().all(|&size| size == 1).then_some((length, tensor.dynamic))
        };
        let Some((most, dynamic)) = integers(tokens.as_tensor(), 2) else {
            return Err(wrong("does not take tokens, i64 [1, n]".into()));
        };
        let Some((positions, _)) = integers(position.as_tensor(), 1) else {
            return Err(wrong("does not take positions, i64 [n] or [1]".into()));
        };
        let logits = meta.outputs.first().and_then(|output| output.as_tensor());
        let Some(rows) = logits.and_then(|logits| rows_of(logits, vocab_size)) else {
            return Err(wrong(format!("does not give logits, f32 [1, n, {vocab_size}], first")));
        };
        let position = match positions {
            1 => Position::First,
            many if many >= most => Position::Each,
            many => return Err(wrong(format!("takes {most} tokens and {many} positions"))),
        };
        Ok(Self {
            name: meta.name.clone(),
            most,
            fewer: dynamic || most == 1,
            position,
            all_rows: most > 1 && rows == most,
        })
    }
}

/// Rows of logits, f32 `[1, rows, vocabulary]` or `[1, vocabulary]`.
fn rows_of(logits: &TensorMeta, vocab_size: usize) -> Option<usize> {
    let (last, before) = logits.sizes.split_last()?;
    let rows =
        before.iter().try_fold(1usize, |product, &size| product.checked_mul(usize::try_from(size).ok()?))?;
    (logits.dtype == DType::F32 && usize::try_from(*last).ok()? == vocab_size && rows > 0).then_some(rows)
}

/// The methods of `names` by what they are for.
#[derive(Debug, Clone)]
pub(super) struct Entries {
    /// For several tokens; also for one if there is no `one`.
    pub(super) many: Entry,
    pub(super) one: Option<Entry>,
    /// For the logits of several tokens.
    pub(super) rows: Option<Entry>,
}

impl Entries {
    pub(super) fn read(program: &Program, names: &[String], vocab_size: usize) -> Result<Self> {
        let entry = |name: &str| -> Result<Option<Entry>> {
            if !names.iter().any(|known| known == name) {
                return Ok(None);
            }
            Entry::read(program, program.method_meta(name)?, vocab_size).map(Some)
        };
        let one = entry(DECODE)?;
        let many = match (entry(FORWARD)?, entry(PREFILL)?, &one) {
            (Some(forward), ..) => forward,
            (None, Some(prefill), Some(_)) => prefill,
            (None, None, Some(decode)) => decode.clone(),
            (None, Some(_), None) | (None, None, None) => {
                return Err(not_a_decoder(
                    program,
                    format!("it has {}; `forward`, or `prefill` and `decode`, are needed", names.join(", ")),
                ));
            }
        };
        if !many.fewer && one.is_none() {
            return Err(not_a_decoder(
                program,
                format!("its method `{}` takes exactly {} tokens", many.name, many.most),
            ));
        }
        let rows = entry(VERIFY)?.filter(|verify| verify.all_rows);
        let rows = rows.or_else(|| Some(many.clone()).filter(|many| many.all_rows));
        Ok(Self { many, one, rows: rows.filter(|rows| rows.fewer) })
    }
}

/// The names of a program's methods that belong to its decoder: those of `forward`, or of `prefill` and `decode`, and
/// `verify`.
pub(crate) fn decoder_methods(program: &Program) -> Result<Vec<String>> {
    let has = |name: &&str| program.method_names().iter().any(|known| known == name);
    let names: Vec<String> = if has(&FORWARD) {
        [FORWARD, VERIFY].iter().filter(|name| has(name)).map(|&name| name.to_owned()).collect()
    } else {
        [PREFILL, DECODE, VERIFY].iter().filter(|name| has(name)).map(|&name| name.to_owned()).collect()
    };
    if names.is_empty() {
        let reason = format!(
            "it has {}; `forward`, or `prefill` and `decode`, are needed",
            program.method_names().join(", ")
        );
        return Err(Error::NotADecoder { program: program.name().to_owned(), reason });
    }
    Ok(names)
}
