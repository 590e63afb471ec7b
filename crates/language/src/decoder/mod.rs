//! A decoder's program: tokens in, logits out, and a KV cache that the host counts the positions of.

mod facts;
mod metadata;
mod methods;
mod ring;

pub use facts::{DecoderFacts, Sliding};
pub(crate) use ring::Written;

use crate::error::{Error, Result};
use facts::not_a_decoder;
use methods::{Entries, Loaded, Position, decoder_methods};
use nearside_runtime::{LoadOptions, Method, Program, Snapshot, TensorRef};
use std::fmt;
use std::time::{Duration, Instant};

/// A decoder that is loaded. It has one KV cache, of which it knows nothing but how to write it: who calls it counts the
/// positions.
pub struct Decoder {
    loaded: Loaded,
    entries: Entries,
    facts: DecoderFacts,
    program: Program,
    names: Vec<String>,
    options: LoadOptions,
    /// The inputs of a call.
    tokens: Vec<i64>,
    positions: Vec<i64>,
    shapes: ([i32; 2], [i32; 1]),
    runs: u64,
    busy: Duration,
}

impl Decoder {
    /// Loads the methods of `program` that make up its decoder: `forward`, or `prefill` and `decode`, and `verify` if there is
    /// one. The end-of-sequence ids that the program itself names are added to those of `facts`.
    ///
    /// # Errors
    /// [`Error::NotADecoder`] if there are no such methods, or they take or give something else; the runtime's.
    pub fn load(program: &Program, facts: DecoderFacts, options: &LoadOptions) -> Result<Self> {
        let names = decoder_methods(program)?;
        let entries = Entries::read(program, &names, facts.vocab_size)?;
        if facts.context_length == 0 || facts.max_prefill_tokens == 0 {
            return Err(not_a_decoder(program, "it has no room for a token".into()));
        }
        let mut facts = facts;
        facts.eos_ids.extend(facts::end_ids(&metadata::constants(program)?));
        facts.eos_ids.sort_unstable();
        facts.eos_ids.dedup();
        let most = entries.many.most.max(entries.rows.as_ref().map_or(0, |rows| rows.most));
        Ok(Self {
            loaded: Loaded::load(program, &names, options)?,
            entries,
            facts,
            program: program.clone(),
            names,
            options: options.clone(),
            tokens: Vec::with_capacity(most),
            positions: Vec::with_capacity(most),
            shapes: ([1, 0], [0]),
            runs: 0,
            busy: Duration::ZERO,
        })
    }

    /// What is known of it.
    pub fn facts(&self) -> &DecoderFacts {
        &self.facts
    }

    /// The program's file, for messages.
    pub fn name(&self) -> &str {
        self.program.name()
    }

    /// Its methods.
    pub fn methods(&self) -> &[Method] {
        self.loaded.methods()
    }

    /// The most tokens that [`Decoder::run`] takes.
    pub fn most_tokens(&self) -> usize {
        if self.entries.many.fewer { self.entries.many.most.min(self.facts.max_prefill_tokens) } else { 1 }
    }

    /// The most tokens that [`Decoder::run_rows`] takes; `None` if the program gives the logits of the last token only.
    pub fn most_rows(&self) -> Option<usize> {
        self.entries.rows.as_ref().map(|rows| rows.most)
    }

    /// Runs `tokens`, 1 to [`Decoder::most_tokens`], which stand at `position` and after it, and gives the logits after the
    /// last one: f32, one a token of the vocabulary. Nothing is allocated.
    ///
    /// # Errors
    /// [`Error::Call`] if they are too many or beyond the context; [`Error::NotFinite`]; the runtime's.
    pub fn run(&mut self, tokens: &[u32], position: usize) -> Result<&[f32]> {
        self.must_fit(tokens.len(), self.most_tokens(), position)?;
        let which = if tokens.len() == 1 && self.entries.one.is_some() { Which::One } else { Which::Many };
        let vocabulary = self.facts.vocab_size;
        let rows = self.call(which, tokens, position)?;
        let last = rows.len() - vocabulary;
        Ok(&rows[last..])
    }

    /// As [`Decoder::run`], with the logits after each token: f32 `[tokens, vocabulary]`, row by row.
    ///
    /// # Errors
    /// As [`Decoder::run`], and [`Error::OneRow`] if the program gives those after the last token only.
    pub fn run_rows(&mut self, tokens: &[u32], position: usize) -> Result<&[f32]> {
        let most =
            self.most_rows().ok_or_else(|| Error::OneRow { program: self.program.name().to_owned() })?;
        self.must_fit(tokens.len(), most, position)?;
        self.call(Which::Rows, tokens, position)
    }

    fn must_fit(&self, tokens: usize, most: usize, position: usize) -> Result<()> {
        let context = self.facts.context_length;
        if (1..=most).contains(&tokens) && position.checked_add(tokens).is_some_and(|end| end <= context) {
            return Ok(());
        }
        Err(Error::Call { tokens, position, most, context })
    }

    fn call(&mut self, which: Which, tokens: &[u32], position: usize) -> Result<&[f32]> {
        let Self { loaded, entries, facts, .. } = self;
        let entry = match which {
            Which::One => entries.one.as_ref(),
            Which::Rows => entries.rows.as_ref(),
            Which::Many => None,
        };
        let entry = entry.unwrap_or(&entries.many);
        if let Some(&token) = tokens.iter().find(|&&token| token as usize >= facts.vocab_size) {
            return Err(Error::NoSuchToken { token, vocabulary: facts.vocab_size });
        }
        self.tokens.clear();
        self.tokens.extend(tokens.iter().map(|&token| i64::from(token)));
        self.positions.clear();
        let positions = if entry.position == Position::Each { tokens.len() } else { 1 };
        self.positions.extend((position..position + positions).map(|position| position as i64));
        self.shapes = ([1, tokens.len() as i32], [positions as i32]);
        let started = Instant::now();
        let outputs = {
            let inputs = [
                TensorRef::new(&self.tokens, &self.shapes.0)?,
                TensorRef::new(&self.positions, &self.shapes.1)?,
            ];
            loaded.execute(&entry.name, &inputs)
        };
        self.busy += started.elapsed();
        self.runs += 1;
        let logits = outputs?.tensor(0)?.as_slice::<f32>()?;
        let rows = if entry.all_rows { tokens.len() } else { 1 };
        if logits.len() != rows * facts.vocab_size {
            return Err(not_a_decoder(
                &self.program,
                format!(
                    "its method `{}` gave {} logits, not {rows} x {}",
                    entry.name,
                    logits.len(),
                    facts.vocab_size
                ),
            ));
        }
        Ok(logits)
    }

    /// Calls of the program so far, and the time in them.
    pub(crate) fn work(&self) -> (u64, Duration) {
        (self.runs, self.busy)
    }

    /// Copies the KV cache.
    ///
    /// # Errors
    /// The runtime's.
    pub fn snapshot(&self) -> Result<Snapshot> {
        self.loaded.snapshot()
    }

    /// Whether [`Decoder::restore`] would take `snapshot`.
    ///
    /// # Errors
    /// The runtime's, if it is of another program.
    pub fn check_snapshot(&self, snapshot: &Snapshot) -> Result<()> {
        self.loaded.check(snapshot)
    }

    /// Puts a KV cache back, bit for bit.
    ///
    /// # Errors
    /// The runtime's, if it is of another program.
    pub fn restore(&mut self, snapshot: &Snapshot) -> Result<()> {
        self.loaded.restore(snapshot)
    }

    /// Empties the KV cache. A decoder that a broken-off run has made unusable is loaded again.
    ///
    /// # Errors
    /// The runtime's.
    pub fn reset(&mut self) -> Result<()> {
        if self.loaded.reset().is_ok() {
            return Ok(());
        }
        self.loaded = Loaded::load(&self.program, &self.names, &self.options)?;
        Ok(())
    }
}

/// Which of the program's methods.
#[derive(Debug, Clone, Copy)]
enum Which {
    One,
    Many,
    Rows,
}

impl fmt::Debug for Decoder {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Decoder").field("loaded", &self.loaded).field("facts", &self.facts).finish()
    }
}
