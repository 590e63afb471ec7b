//! A decoder with the texts that go in and come out.

use crate::constraint::GrammarCompiler;
use crate::decoder::{Decoder, DecoderFacts};
use crate::error::{Error, Result};
use crate::request::Conversation;
use crate::session::Resident;
use crate::speculative::Draft;
use crate::statistics::{Intervals, ThermalState};
use crate::template::ChatTemplate;
use crate::tokenizer::Tokenizer;
use crate::tools::{ToolFormat, ToolParser, ToolSignature};
use std::fmt;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

/// A decoder with its tokenizer and chat template. It has one KV cache; any number of [`Session`](crate::Session)s take turns
/// on it.
pub struct LanguageModel {
    /// Tells sessions of this model from those of others.
    pub(crate) id: u64,
    pub(crate) decoder: Decoder,
    pub(crate) tokenizer: Tokenizer,
    pub(crate) template: Option<ChatTemplate>,
    /// Tokens that end an answer, sorted.
    pub(crate) ends: Vec<u32>,
    pub(crate) draft: Option<Draft>,
    /// Made when the first grammar comes: it looks at all tokens.
    grammars: Option<GrammarCompiler>,
    tool_format: Option<ToolFormat>,
    /// Whose KV cache the decoder has.
    pub(crate) resident: Option<Resident>,
    pub(crate) scratch: Scratch,
    pub(crate) load: Duration,
    pub(crate) thermal: Option<ThermalState>,
}

/// What every generation needs and none keeps.
pub(crate) struct Scratch {
    /// Rows of logits that are not yet sampled from.
    pub(crate) rows: Vec<f32>,
    pub(crate) guesses: Vec<u32>,
    pub(crate) call: Vec<u32>,
    pub(crate) intervals: Intervals,
}

impl LanguageModel {
    /// Puts a model together.
    ///
    /// # Errors
    /// [`Error::NoSuchToken`] if the tokenizer has tokens that the decoder has no logits for.
    pub fn new(decoder: Decoder, tokenizer: Tokenizer, template: Option<ChatTemplate>) -> Result<Self> {
        static NEXT: AtomicU64 = AtomicU64::new(1);
        let vocabulary = decoder.facts().vocab_size;
        if tokenizer.vocab_size() > vocabulary {
            return Err(Error::NoSuchToken { token: tokenizer.vocab_size() as u32 - 1, vocabulary });
        }
        let mut ends = decoder.facts().eos_ids.clone();
        ends.extend_from_slice(tokenizer.eos_ids());
        if let Some(template) = &template {
            ends.extend(template.end_of_turn(&tokenizer));
        }
        let tool_format = template.as_ref().and_then(|template| ToolFormat::of_template(template.source()));
        ends.sort_unstable();
        ends.dedup();
        let scratch = Scratch {
            rows: Vec::with_capacity(vocabulary),
            guesses: Vec::new(),
            call: Vec::new(),
            intervals: Intervals::new()?,
        };
        Ok(Self {
            id: NEXT.fetch_add(1, Ordering::Relaxed),
            decoder,
            tokenizer,
            template,
            ends,
            draft: None,
            grammars: None,
            tool_format,
            resident: None,
            scratch,
            load: Duration::ZERO,
            thermal: None,
        })
    }

    /// The same with a smaller model of the same tokenizer that guesses tokens.
    ///
    /// # Errors
    /// [`Error::Draft`] if its tokens are others, [`Error::OneRow`] if this model can't verify guesses.
    pub fn with_draft(mut self, decoder: Decoder, tokenizer: &Tokenizer) -> Result<Self> {
        if self.decoder.most_rows().is_none() {
            return Err(Error::OneRow { program: self.decoder.name().to_owned() });
        }
        self.draft = Some(Draft::new(decoder, tokenizer, &self.tokenizer)?);
        Ok(self)
    }

    /// The same with what [`Statistics::load`](crate::Statistics::load) shall say.
    #[must_use]
    pub fn with_load_time(mut self, load: Duration) -> Self {
        self.load = load;
        self
    }

    /// Runs one token, so that the first answer does not pay for the pages of the weights and the delegates' workspace.
    ///
    /// # Errors
    /// The runtime's.
    pub fn warm_up(&mut self) -> Result<()> {
        self.resident = None;
        self.decoder.run(&[0], 0).map(|_| ())
    }

    /// Tells how hot the device is, for the statistics of the answers from now on: who knows it is the app.
    pub fn set_thermal_state(&mut self, state: Option<ThermalState>) {
        self.thermal = state;
    }

    /// Calls of the programs so far, and the time in them.
    pub(crate) fn work(&self) -> (u64, Duration) {
        let (calls, busy) = self.decoder.work();
        let (more, longer) = self.draft.as_ref().map_or((0, Duration::ZERO), Draft::work);
        (calls + more, busy + longer)
    }

    pub(crate) fn grammars(&mut self) -> Result<&GrammarCompiler> {
        let compiler = match self.grammars.take() {
            Some(compiler) => compiler,
            None => {
                let known = |&id: &u32| (id as usize) < self.tokenizer.vocab_size();
                let ends: Vec<u32> = self.ends.iter().copied().filter(known).collect();
                GrammarCompiler::new(&self.tokenizer, &ends)?
            }
        };
        Ok(self.grammars.insert(compiler))
    }

    /// What finds the calls in an answer, and the special tokens that it must see; `None` if there are no tools, or the
    /// template shows no calls.
    pub(crate) fn tool_parser(
        &self,
        conversation: Option<&Conversation>,
    ) -> Result<Option<(ToolParser, Vec<u32>)>> {
        let tools = conversation.map_or(&[][..], |conversation| &conversation.tools);
        let Some(format) = self.tool_format.filter(|_| !tools.is_empty()) else { return Ok(None) };
        let signatures =
            tools.iter().map(|tool| ToolSignature::from_json(&tool.0)).collect::<Result<Vec<_>>>()?;
        Ok(Some((ToolParser::new(format, &signatures), format.special_tokens(&self.tokenizer))))
    }

    /// What is known of the decoder.
    pub fn facts(&self) -> &DecoderFacts {
        self.decoder.facts()
    }

    /// The decoder.
    pub fn decoder(&self) -> &Decoder {
        &self.decoder
    }

    /// The tokenizer.
    pub fn tokenizer(&self) -> &Tokenizer {
        &self.tokenizer
    }

    /// The chat template, if there is one.
    pub fn template(&self) -> Option<&ChatTemplate> {
        self.template.as_ref()
    }

    /// The tokens that end an answer: those of the tokenizer, of the manifest, of the program, and with which the chat template
    /// ends an assistant's turn.
    pub fn end_ids(&self) -> &[u32] {
        &self.ends
    }

    /// Whether guesses can be verified: whether the program gives the logits of several tokens.
    pub fn can_speculate(&self) -> bool {
        self.decoder.most_rows().is_some()
    }
}

impl fmt::Debug for LanguageModel {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("LanguageModel").field("decoder", &self.decoder).field("ends", &self.ends).finish()
    }
}
