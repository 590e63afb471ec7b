//! What a model does, and what a manifest says for that task alone.

use super::{EmbeddingEntry, FileEntry, GenerationEntry, ImageEntry, ParseError, VisionEntry};
use serde::{Deserialize, Serialize};
use std::fmt;

/// What a model does.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum TaskKind {
    /// An image to labels with scores.
    Classify,
    /// A text to a vector.
    Embed,
    /// A text to its continuation.
    Generate,
    /// Images and a text to a text.
    Describe,
}

/// What a model does, with what only that task needs to know.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(tag = "task", rename_all = "snake_case")]
pub enum Task {
    /// An image to labels with scores.
    Classify(Classify),
    /// A text to a vector.
    Embed(Embed),
    /// A text to its continuation.
    Generate(Generate),
    /// Images and a text to a text.
    Describe(Describe),
}

/// Images to labels.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Classify {
    /// One label a line, line i for class i.
    pub labels: FileEntry,
    /// How pixels become the input.
    pub image: ImageEntry,
    /// What the output means.
    pub output: Output,
}

/// Texts to vectors.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Embed {
    /// Hugging Face's `tokenizer.json`.
    pub tokenizer: FileEntry,
    /// What the vectors are.
    pub embedding: EmbeddingEntry,
}

/// Text to text.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Generate {
    /// Hugging Face's `tokenizer.json`.
    pub tokenizer: FileEntry,
    /// How a conversation is written as one text, in Jinja.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub chat_template: Option<FileEntry>,
    /// What the decode loop must know.
    pub generation: GenerationEntry,
}

/// Images and text to text.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Describe {
    /// Hugging Face's `tokenizer.json`.
    pub tokenizer: FileEntry,
    /// How a conversation is written as one text, in Jinja.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub chat_template: Option<FileEntry>,
    /// What the decode loop must know.
    pub generation: GenerationEntry,
    /// How pixels become the vision encoder's input.
    pub image: ImageEntry,
    /// How an image stands among the tokens.
    pub vision: VisionEntry,
}

/// What a classifier's output means.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Output {
    /// Scores before softmax, which the host applies.
    Logits,
    /// Scores that sum to 1.
    Probabilities,
}

impl Task {
    /// Which one it is.
    pub fn kind(&self) -> TaskKind {
        match self {
            Self::Classify(_) => TaskKind::Classify,
            Self::Embed(_) => TaskKind::Embed,
            Self::Generate(_) => TaskKind::Generate,
            Self::Describe(_) => TaskKind::Describe,
        }
    }

    /// How pixels become an input, where pictures are taken.
    pub fn image(&self) -> Option<&ImageEntry> {
        match self {
            Self::Classify(classify) => Some(&classify.image),
            Self::Describe(describe) => Some(&describe.image),
            Self::Embed(_) | Self::Generate(_) => None,
        }
    }

    /// The tokenizer, where text is taken.
    pub fn tokenizer(&self) -> Option<&FileEntry> {
        match self {
            Self::Classify(_) => None,
            Self::Embed(embed) => Some(&embed.tokenizer),
            Self::Generate(generate) => Some(&generate.tokenizer),
            Self::Describe(describe) => Some(&describe.tokenizer),
        }
    }

    /// The chat template, where there is one.
    pub fn chat_template(&self) -> Option<&FileEntry> {
        match self {
            Self::Classify(_) | Self::Embed(_) => None,
            Self::Generate(generate) => generate.chat_template.as_ref(),
            Self::Describe(describe) => describe.chat_template.as_ref(),
        }
    }

    pub(super) fn check(&self) -> Result<(), ParseError> {
        if let Some(image) = self.image() {
            image.spec()?;
        }
        match self {
            Self::Classify(_) => Ok(()),
            Self::Embed(embed) => embed.embedding.check(),
            Self::Generate(generate) => generate.generation.check(),
            Self::Describe(describe) => describe.generation.check().and(describe.vision.check()),
        }
    }
}

impl fmt::Display for TaskKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Classify => "classify",
            Self::Embed => "embed",
            Self::Generate => "generate",
            Self::Describe => "describe",
        })
    }
}
