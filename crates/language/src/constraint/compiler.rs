//! Grammars made ready for the tokens of a model.

use super::Constraint;
use super::grammar::Grammar;
use crate::tokenizer::Tokenizer;
use crate::{Error, Result};
use llguidance::api::ParserLimits;
use llguidance::toktrie::{InferenceCapabilities, TokEnv, TokRxInfo, TokTrie, TokenId, TokenizerEnv};
use llguidance::{Matcher, ParserFactory};
use std::fmt;
use std::sync::Arc;

/// Compiles grammars for one tokenizer, whose tokens it has sorted into a tree by their bytes. That takes a while
/// (about a second for 49 000 tokens): make it once a model. Cheap to clone, can be shared between threads.
///
/// ```no_run
/// use nearside_language::{Grammar, GrammarCompiler, Sampler, SamplingOptions, Tokenizer};
///
/// let tokenizer = Tokenizer::open("tokenizer.json")?;
/// let compiler = GrammarCompiler::new(&tokenizer, &[2])?;
/// let schema = serde_json::json!({"type": "object", "properties": {"age": {"type": "integer"}}});
/// let mut constraint = compiler.compile(&Grammar::JsonSchema(schema))?;
/// let mut sampler = Sampler::new(&SamplingOptions::default(), tokenizer.vocab_size())?;
/// # let logits_of_the_model = || vec![0.0; tokenizer.vocab_size()];
/// while !constraint.is_complete() {
///     let token = sampler.sample(&mut logits_of_the_model(), Some(constraint.mask()?))?;
///     sampler.accept(token);
///     constraint.accept(token)?;
/// }
/// # Ok::<(), nearside_language::Error>(())
/// ```
#[derive(Clone)]
pub struct GrammarCompiler {
    factory: Arc<ParserFactory>,
}

/// Room for the compiler's recursion, whatever thread it is called on.
const STACK_BYTES: usize = 64 << 20;

impl GrammarCompiler {
    /// For the tokens of `tokenizer`; those of `end_ids` end an answer, and may come only where the grammar lets it end.
    ///
    /// # Errors
    /// [`Error::Options`] if `end_ids` is empty or has a token that the tokenizer has not, [`Error::Grammar`] if
    /// llguidance takes offence at the tokens.
    pub fn new(tokenizer: &Tokenizer, end_ids: &[u32]) -> Result<Self> {
        let vocabulary = tokenizer.vocab_size();
        let Some(&end) = end_ids.first() else {
            return Err(Error::Options(
                "structured output needs a token that ends an answer: give the model's end-of-sequence ids"
                    .into(),
            ));
        };
        if let Some(&token) = end_ids.iter().find(|&&token| token as usize >= vocabulary) {
            return Err(Error::NoSuchToken { token, vocabulary });
        }
        let words: Vec<Vec<u8>> = (0..vocabulary as u32).map(|id| word(tokenizer, id)).collect();
        let info = TokRxInfo::new(vocabulary as u32, end);
        let environment: TokEnv =
            Arc::new(Environment { trie: TokTrie::from(&info, &words).with_eos_tokens(end_ids) });
        let slices = llguidance::earley::SlicedBiasComputer::general_slices();
        let mut factory = ParserFactory::new(&environment, InferenceCapabilities::default(), &slices)
            .map_err(|error| refused(&error))?;
        *factory.limits_mut() = limits();
        factory.quiet();
        Ok(Self { factory: Arc::new(factory) })
    }

    /// Makes `grammar` ready to be followed from its beginning. Hostile ones take a bounded time and memory, as far as
    /// llguidance's limits reach.
    ///
    /// # Errors
    /// [`Error::Grammar`] with llguidance's reason: a syntax error, what of JSON Schema it can't hold to, a limit.
    pub fn compile(&self, grammar: &Grammar) -> Result<Constraint> {
        let grammar = grammar.to_llguidance()?;
        let compile = || {
            let parser = self.factory.create_parser(grammar);
            parser.map(|parser| Matcher::new(Ok(parser))).map_err(|error| refused(&error))
        };
        let matcher = std::thread::scope(|scope| {
            let builder = std::thread::Builder::new().name("nearside-grammar".into()).stack_size(STACK_BYTES);
            let thread = builder.spawn_scoped(scope, compile).map_err(|error| Error::Grammar {
                reason: format!("there is no thread to compile it on: {error}"),
            })?;
            let panicked = |_| Error::Grammar { reason: "llguidance panicked".into() };
            thread.join().map_err(panicked)?
        })?;
        Constraint::new(matcher, self.factory.tok_env().tok_trie().vocab_size())
    }
}

impl fmt::Debug for GrammarCompiler {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let vocab_size = self.factory.tok_env().tok_trie().vocab_size();
        f.debug_struct("GrammarCompiler").field("vocab_size", &vocab_size).finish_non_exhaustive()
    }
}

/// The bytes of a token, of special ones marked so that no text can be mistaken for them.
fn word(tokenizer: &Tokenizer, id: u32) -> Vec<u8> {
    let bytes = tokenizer.token_bytes(id).unwrap_or_default();
    if tokenizer.is_special(id) && !bytes.is_empty() {
        [&[TokTrie::SPECIAL_TOKEN_MARKER], bytes].concat()
    } else {
        bytes.to_vec()
    }
}

/// What llguidance says, without the traces that it adds to its own panics.
pub(super) fn refused(error: &dyn fmt::Display) -> Error {
    let text = error.to_string();
    let reason = text.split("\n<backtrace>").next().unwrap_or_default().trim();
    Error::Grammar { reason: reason.to_owned() }
}

/// llguidance's own limits but for memory: 250 000 lexer states could be 500 MB on a phone. A mask that takes longer than
/// about 15 ms is an error, as is a compilation of more than about a second.
fn limits() -> ParserLimits {
    ParserLimits {
        max_items_in_row: 2_000,
        initial_lexer_fuel: 1_000_000,
        step_lexer_fuel: 200_000,
        step_max_items: 50_000,
        max_lexer_states: 50_000,
        max_grammar_size: 200_000,
        precompute_large_lexemes: true,
        verbose_errors: false,
    }
}

/// Tokens by their bytes.
struct Environment {
    trie: TokTrie,
}

impl TokenizerEnv for Environment {
    fn tok_trie(&self) -> &TokTrie {
        &self.trie
    }

    fn tokenize_bytes(&self, bytes: &[u8]) -> Vec<TokenId> {
        self.trie.greedy_tokenize(bytes)
    }

    /// What the grammar forces is left to the model's choice of tokens.
    fn tokenize_is_canonical(&self) -> bool {
        false
    }
}
