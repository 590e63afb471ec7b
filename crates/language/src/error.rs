//! What can go wrong between a text and its continuation.

use std::path::PathBuf;

/// The crate's result.
pub type Result<T> = std::result::Result<T, Error>;

/// Why a text could not be read, written or continued.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// The program is not a decoder that can be run here.
    #[error("{program} can't be used to generate text: {reason}")]
    NotADecoder {
        /// The program's file.
        program: String,
        /// What it lacks.
        reason: String,
    },
    /// A decoder was called with too many tokens, or beyond its context.
    #[error(
        "{tokens} tokens at position {position} can't be run: 1 to {most} a call are possible, up to position {context}"
    )]
    Call {
        /// Tokens given.
        tokens: usize,
        /// The position of the first of them.
        position: usize,
        /// The most tokens of a call.
        most: usize,
        /// Positions in the KV cache.
        context: usize,
    },
    /// A token is not one of the model's.
    #[error("the token {token} is not one of the model's {vocabulary}")]
    NoSuchToken {
        /// The token.
        token: u32,
        /// Tokens that there are.
        vocabulary: usize,
    },
    /// Speculative decoding needs the logits of several tokens of a call.
    #[error("{program} gives the logits of the last token only, so that guessed tokens can't be verified")]
    OneRow {
        /// The program's file.
        program: String,
    },
    /// The draft model is not for the same tokens.
    #[error("the draft model can't guess for this one: {reason}")]
    Draft {
        /// What differs.
        reason: String,
    },
    /// A tokenizer's file is damaged, or of no known kind.
    #[error("{name} is not a usable tokenizer: {reason}")]
    Tokenizer {
        /// The file.
        name: String,
        /// What is wrong with it.
        reason: String,
    },
    /// A text could not be turned into tokens, or tokens into text.
    #[error("the tokenizer failed: {reason}")]
    Tokenize {
        /// What it said.
        reason: String,
    },
    /// An option is out of range, or does not go with another.
    #[error("{0}")]
    Options(String),
    /// The model has no chat template.
    #[error("the model has no chat template, so that messages can't be written as its text")]
    NoTemplate,
    /// A chat template is damaged, or can't be carried out.
    #[error("the chat template can't be used: {reason}")]
    Template {
        /// What is wrong, and in which line.
        reason: String,
    },
    /// A chat template refuses the messages by its own rules (`raise_exception`).
    #[error("the chat template refuses the messages: {message}")]
    TemplateRefuses {
        /// What the template says.
        message: String,
    },
    /// There is nothing to continue.
    #[error("there is no text to continue: the prompt has no token")]
    EmptyPrompt,
    /// An earlier generation was broken off by an error, so that nothing can be said of the session's state.
    #[error("the session can't go on: {reason}")]
    Poisoned {
        /// The error that broke it off.
        reason: String,
    },
    /// A session's file is damaged, or not one.
    #[error("{path} is not a usable session: {reason}")]
    SessionDamaged {
        /// The file.
        path: PathBuf,
        /// What is wrong with it.
        reason: String,
    },
    /// A session's file is of another model.
    #[error("{path} is a session of another model: {reason}")]
    SessionMismatch {
        /// The file.
        path: PathBuf,
        /// What differs.
        reason: String,
    },
    /// A file could not be read.
    #[error("cannot read {path}: {source}")]
    Read {
        /// The file.
        path: PathBuf,
        /// What the system said.
        source: std::io::Error,
    },
    /// A file could not be written.
    #[error("cannot write {path}: {source}")]
    Write {
        /// The file.
        path: PathBuf,
        /// What the system said.
        source: std::io::Error,
    },
    /// The model gave a number that is none.
    #[error("the model gave {value} for the token {token}")]
    InvalidLogits {
        /// The token.
        token: u32,
        /// NaN or plus infinity.
        value: f32,
    },
    /// Logits are of another vocabulary than the sampler.
    #[error("there are {found} logits, but the sampler chooses from {expected} tokens")]
    LogitsWidth {
        /// Tokens that the sampler was made for.
        expected: usize,
        /// Logits given.
        found: usize,
    },
    /// No token may come next.
    #[error("no token is left to choose from: grammar, bans and the model forbid all of them")]
    NoTokenAllowed,
    /// The system gave no random numbers for a seed.
    #[error("the system gives no random numbers: {reason}")]
    NoRandomness {
        /// What it said.
        reason: String,
    },
    /// A grammar can't be used, or can't be followed any further.
    #[error("the grammar can't be followed: {reason}")]
    Grammar {
        /// What llguidance said.
        reason: String,
    },
    /// A token that the grammar does not have here.
    #[error("the grammar does not have the token {token} here")]
    NotInGrammar {
        /// The token.
        token: u32,
    },
    /// The runtime failed.
    #[error(transparent)]
    Runtime(#[from] nearside_runtime::Error),
}

impl Error {
    /// What to do about it.
    pub fn hint(&self) -> &str {
        match self {
            Self::NotADecoder { .. } => "export the model with `nearside-export generate`",
            Self::Call { .. } => "give fewer tokens, or begin a new session",
            Self::NoSuchToken { .. } => "use the tokenizer that was exported with the model",
            Self::OneRow { .. } => "export it with the logits of all rows, or generate without speculation",
            Self::Draft { .. } => "choose a smaller model of the same family, with the same tokenizer",
            Self::Tokenizer { .. } => {
                "give a tokenizer.json, a SentencePiece model, a tiktoken file or a GGUF file that is whole"
            }
            Self::Tokenize { .. } => "check that the tokenizer and the model belong together",
            Self::Options(_) => "correct the option",
            Self::NoTemplate => {
                "give the text itself instead of messages, or export the model with its chat template"
            }
            Self::Template { .. } => {
                "check the messages' fields, or take the template that belongs to the model"
            }
            Self::TemplateRefuses { .. } => "order and fill the messages as the template says",
            Self::EmptyPrompt => "give a prompt that is not empty",
            Self::Poisoned { .. } => "reset the session",
            Self::SessionDamaged { .. } => "save the session again",
            Self::SessionMismatch { .. } => "open it with the model and variant that it was saved with",
            Self::Read { .. } => "check that the path exists and may be read",
            Self::Write { .. } => "check that the folder exists, may be written and has room",
            Self::InvalidLogits { .. } => {
                "check the quality of the export: `nearside-export verify` compares it with fp32"
            }
            Self::LogitsWidth { .. } => "make the sampler for as many tokens as the model has logits",
            Self::NoTokenAllowed => "ban fewer tokens, or change the grammar",
            Self::NoRandomness { .. } => "give a seed",
            Self::Grammar { .. } => "correct the grammar or schema, or make it simpler",
            Self::NotInGrammar { .. } => "choose among the tokens of the constraint's mask",
            Self::Runtime(error) => error.hint(),
        }
    }
}
