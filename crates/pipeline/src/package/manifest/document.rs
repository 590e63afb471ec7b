//! The JSON of each task: fields that a task does not have are refused with their place.

use super::{
    Classify, ClassifyQuality, Describe, DescribeQuality, Embed, EmbedQuality, EmbeddingEntry, FileEntry,
    Generate, GenerateQuality, GenerationEntry, ImageEntry, Manifest, Output, ParseError, Quality, Task,
    TaskKind, Variant, VisionEntry, not_a_manifest, present,
};
use serde::Deserialize;

/// A whole manifest of one task. serde refuses unknown fields only in a struct that has all of them.
macro_rules! document {
    ($document:ident, $task:ident, $quality:ident, { $($(#[$attribute:meta])* $field:ident: $type:ty,)+ }) => {
        #[derive(Deserialize)]
        #[serde(deny_unknown_fields)]
        struct $document {
            schema_version: u32,
            name: String,
            #[serde(rename = "task")]
            _task: TaskKind,
            licence: String,
            source: String,
            $($(#[$attribute])* $field: $type,)+
            variants: Vec<Variant<$quality>>,
        }

        impl From<$document> for Manifest {
            fn from(document: $document) -> Self {
                Self {
                    schema_version: document.schema_version,
                    name: document.name,
                    licence: document.licence,
                    source: document.source,
                    task: Task::$task($task { $($field: document.$field,)+ }),
                    variants: document
                        .variants
                        .into_iter()
                        .map(|variant| variant.with_quality(Quality::$task))
                        .collect(),
                }
            }
        }
    };
}

document!(ClassifyDocument, Classify, ClassifyQuality, {
    labels: FileEntry,
    image: ImageEntry,
    output: Output,
});

document!(EmbedDocument, Embed, EmbedQuality, {
    tokenizer: FileEntry,
    embedding: EmbeddingEntry,
});

document!(GenerateDocument, Generate, GenerateQuality, {
    tokenizer: FileEntry,
    #[serde(default, deserialize_with = "present")]
    chat_template: Option<FileEntry>,
    generation: GenerationEntry,
});

document!(DescribeDocument, Describe, DescribeQuality, {
    tokenizer: FileEntry,
    #[serde(default, deserialize_with = "present")]
    chat_template: Option<FileEntry>,
    generation: GenerationEntry,
    image: ImageEntry,
    vision: VisionEntry,
});

/// Reads `text` as a manifest of `task`.
pub(super) fn read(task: TaskKind, text: &str) -> Result<Manifest, ParseError> {
    fn as_a<'t, D: Deserialize<'t> + Into<Manifest>>(text: &'t str) -> serde_json::Result<Manifest> {
        serde_json::from_str::<D>(text).map(Into::into)
    }
    let read = match task {
        TaskKind::Classify => as_a::<ClassifyDocument>(text),
        TaskKind::Embed => as_a::<EmbedDocument>(text),
        TaskKind::Generate => as_a::<GenerateDocument>(text),
        TaskKind::Describe => as_a::<DescribeDocument>(text),
    };
    read.map_err(|error| ParseError(format!("task `{task}`: {}", not_a_manifest(error))))
}
