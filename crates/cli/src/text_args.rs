//! The command lines of `generate` and `chat`.

use crate::args::LoadArgs;
use crate::error::{Error, Result};
use clap::ValueEnum;
use nearside_pipeline::OpenOptions;
use nearside_pipeline::language::{
    Grammar, Prompt, PromptLookup, Request, SamplingOptions, Speculation, WhenFull,
};
use std::path::{Path, PathBuf};

#[derive(clap::Args)]
pub(crate) struct GenerateArgs {
    #[command(flatten)]
    pub(crate) model: TextModelArgs,
    /// The prompt; its words are joined. Without one, and for `-`, it is read from stdin
    #[arg(value_name = "PROMPT")]
    pub(crate) prompt: Vec<String>,
    /// Read the prompt from a file
    #[arg(long, value_name = "FILE", conflicts_with = "prompt")]
    pub(crate) file: Option<PathBuf>,
    /// Continue the prompt as it is, instead of answering it as a message
    #[arg(long, conflicts_with = "system")]
    pub(crate) raw: bool,
    /// Show what it took, on stderr
    #[arg(long)]
    pub(crate) stats: bool,
}

#[derive(clap::Args)]
pub(crate) struct ChatArgs {
    #[command(flatten)]
    pub(crate) model: TextModelArgs,
    /// Go on with a session that `/save` wrote
    #[arg(long, value_name = "FILE")]
    pub(crate) load: Option<PathBuf>,
}

/// A model, and how it answers.
#[derive(clap::Args)]
pub(crate) struct TextModelArgs {
    /// A model package (NAME.nearside) of the task `generate`
    pub(crate) package: PathBuf,
    /// The system prompt: who the model is and what it should do
    #[arg(long, value_name = "TEXT")]
    pub(crate) system: Option<String>,
    /// The most tokens of an answer; as many as there is room for by default
    #[arg(long, short = 'n', value_name = "N")]
    pub(crate) max_tokens: Option<usize>,
    #[command(flatten)]
    sampling: SamplingArgs,
    #[command(flatten)]
    shape: ShapeArgs,
    /// What happens when the context is full; `generate` stops and `chat` drops the oldest turns by default
    #[arg(long, value_enum)]
    when_full: Option<WhenFullArg>,
    /// Guess tokens from what the text has had before; the program must give the logits of several tokens
    #[arg(long, conflicts_with = "draft")]
    prompt_lookup: bool,
    /// A smaller model of the same tokenizer, which guesses tokens
    #[arg(long, value_name = "PACKAGE")]
    pub(crate) draft: Option<PathBuf>,
    /// Tokens that the smaller model guesses at once
    #[arg(long, value_name = "N", default_value_t = 4, requires = "draft", value_parser = clap::value_parser!(u8).range(1..=64))]
    draft_tokens: u8,
    /// The package's variant; the first that can run here by default
    #[arg(long)]
    variant: Option<String>,
    #[command(flatten)]
    load: LoadArgs,
    /// Write events as JSON, one a line
    #[arg(long)]
    pub(crate) json: bool,
}

/// How tokens are chosen. The package's own defaults hold where nothing is given.
#[derive(clap::Args)]
struct SamplingArgs {
    /// Divides the logits; 0 takes the most likely token
    #[arg(long, value_name = "T")]
    temperature: Option<f32>,
    /// Sample from so many of the most likely tokens
    #[arg(long, value_name = "N")]
    top_k: Option<u32>,
    /// Sample from the most likely tokens that together have this probability
    #[arg(long, value_name = "P")]
    top_p: Option<f32>,
    /// Sample from tokens that are at least so likely, compared with the most likely one
    #[arg(long, value_name = "P")]
    min_p: Option<f32>,
    /// Makes tokens less likely that were there already; 1 does nothing
    #[arg(long, value_name = "X")]
    repetition_penalty: Option<f32>,
    /// Lowers the logits of tokens that were there already
    #[arg(long, value_name = "X", allow_negative_numbers = true)]
    presence_penalty: Option<f32>,
    /// Lowers the logits of tokens for each time that they were there already
    #[arg(long, value_name = "X", allow_negative_numbers = true)]
    frequency_penalty: Option<f32>,
    /// The same seed gives the same text
    #[arg(long, value_name = "N")]
    seed: Option<u64>,
}

/// What the answer looks like, and where it ends.
#[derive(clap::Args)]
struct ShapeArgs {
    /// A text that ends the answer, and is no part of it; can be given more than once
    #[arg(long, value_name = "TEXT")]
    stop: Vec<String>,
    /// A JSON schema that the answer must fit: a file, or the schema itself
    #[arg(long, value_name = "FILE|JSON", conflicts_with_all = ["regex", "grammar"])]
    json_schema: Option<String>,
    /// A regular expression that the answer must match
    #[arg(long, value_name = "REGEX", conflicts_with = "grammar")]
    regex: Option<String>,
    /// A file with a Lark grammar that the answer must fit
    #[arg(long, value_name = "FILE")]
    grammar: Option<PathBuf>,
    /// Show special tokens
    #[arg(long)]
    special: bool,
}

#[derive(Debug, Clone, Copy, ValueEnum)]
enum WhenFullArg {
    /// The answer ends
    Stop,
    /// The oldest turns are dropped, the system prompt stays
    Shift,
}

impl From<WhenFullArg> for WhenFull {
    fn from(arg: WhenFullArg) -> Self {
        match arg {
            WhenFullArg::Stop => Self::Stop,
            WhenFullArg::Shift => Self::Shift,
        }
    }
}

impl TextModelArgs {
    /// Call it while the process has one thread.
    pub(crate) fn options(&self) -> Result<OpenOptions> {
        self.load.open_options(self.variant.as_deref())
    }

    /// What every answer is asked for with, without its prompt.
    pub(crate) fn request(&self, defaults: &SamplingOptions, when_full: WhenFull) -> Result<Request> {
        let speculation = match (self.prompt_lookup, &self.draft) {
            (true, _) => Speculation::PromptLookup(PromptLookup::default()),
            (false, Some(_)) => Speculation::Draft(usize::from(self.draft_tokens)),
            (false, None) => Speculation::None,
        };
        Ok(Request {
            max_new_tokens: self.max_tokens,
            sampling: self.sampling.options(defaults),
            stop: self.shape.stop.clone(),
            grammar: self.shape.grammar()?,
            show_special: self.shape.special,
            when_full: self.when_full.map_or(when_full, WhenFull::from),
            speculation,
            ..Request::new(Prompt::Continue)
        })
    }
}

impl SamplingArgs {
    fn options(&self, defaults: &SamplingOptions) -> SamplingOptions {
        // Who narrows the choice down wants one: greedily there is none.
        let chooses =
            self.top_k.is_some() || self.top_p.is_some() || self.min_p.is_some() || self.seed.is_some();
        let usual = if chooses && defaults.is_greedy() { 1.0 } else { defaults.temperature };
        SamplingOptions {
            temperature: self.temperature.unwrap_or(usual),
            top_k: self.top_k.unwrap_or(defaults.top_k),
            top_p: self.top_p.unwrap_or(defaults.top_p),
            min_p: self.min_p.unwrap_or(defaults.min_p),
            repetition_penalty: self.repetition_penalty.unwrap_or(defaults.repetition_penalty),
            presence_penalty: self.presence_penalty.unwrap_or(defaults.presence_penalty),
            frequency_penalty: self.frequency_penalty.unwrap_or(defaults.frequency_penalty),
            seed: self.seed,
            ..defaults.clone()
        }
    }
}

impl ShapeArgs {
    fn grammar(&self) -> Result<Option<Grammar>> {
        if let Some(schema) = &self.json_schema {
            let inline = schema.trim_start().starts_with(['{', '[']);
            let text = if inline { schema.clone() } else { read_text(Path::new(schema))? };
            let schema = serde_json::from_str(&text)
                .map_err(|error| Error::Usage(format!("--json-schema is no JSON: {error}")))?;
            return Ok(Some(Grammar::JsonSchema(schema)));
        }
        if let Some(regex) = &self.regex {
            return Ok(Some(Grammar::Regex(regex.clone())));
        }
        self.grammar.as_ref().map(|path| Ok(Grammar::Lark(read_text(path)?))).transpose()
    }
}

/// Reads a text file whole.
pub(crate) fn read_text(path: &Path) -> Result<String> {
    std::fs::read_to_string(path).map_err(|source| Error::Read { path: path.to_owned(), source })
}
