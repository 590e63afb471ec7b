//! From a package to a language model that is ready.

use super::info::TextModelInfo;
use crate::error::Result;
use crate::loaded::Facts;
use crate::model::OpenOptions;
use crate::package::Package;
use crate::package::manifest::{Generate, GenerationDefaults, GenerationEntry};
use nearside_language::{
    ChatTemplate, Decoder, DecoderFacts, LanguageModel, SamplingOptions, Sliding, SpecialTokens, Tokenizer,
};
use nearside_runtime::LoadOptions;
use std::time::Instant;

/// What the inference thread owns, and what is known of it.
pub(super) struct Opened {
    pub(super) model: LanguageModel,
    pub(super) info: TextModelInfo,
}

/// How a package says that it samples: greedily where it says nothing.
pub(super) fn defaults(generate: &Generate) -> SamplingOptions {
    let defaults = &generate.generation.defaults;
    let plain = match defaults.temperature {
        None if *defaults == GenerationDefaults::default() => SamplingOptions::greedy(),
        given => SamplingOptions { temperature: given.unwrap_or(1.0) as f32, ..SamplingOptions::default() },
    };
    SamplingOptions {
        top_k: defaults.top_k.unwrap_or(plain.top_k),
        top_p: defaults.top_p.map_or(plain.top_p, |value| value as f32),
        repetition_penalty: defaults
            .repetition_penalty
            .map_or(plain.repetition_penalty, |value| value as f32),
        ..plain
    }
}

pub(super) fn open(
    package: &Package,
    draft: Option<&Package>,
    options: &OpenOptions,
    demands: &LoadOptions,
) -> Result<Opened> {
    let started = Instant::now();
    let (name, decoder) = decoder(package, options.variant.as_deref(), options, demands)?;
    let facts = Facts::new(decoder.methods())?;
    let tokenizer = tokenizer(package)?;
    let template = template(package, &tokenizer)?;
    let mut model = LanguageModel::new(decoder, tokenizer, template)?;
    if let Some(draft) = draft {
        let (_, decoder) = self::decoder(draft, None, options, demands)?;
        model = model.with_draft(decoder, &self::tokenizer(draft)?)?;
    }
    // The first run touches weights and grows the delegate's workspace: it is part of loading, not of the first answer.
    model.warm_up()?;
    let load = started.elapsed();
    let info = TextModelInfo::new(package, package.variant(&name)?, &facts, &model, load);
    Ok(Opened { model: model.with_load_time(load), info })
}

fn decoder(
    package: &Package,
    variant: Option<&str>,
    options: &OpenOptions,
    demands: &LoadOptions,
) -> Result<(String, Decoder)> {
    let facts = facts(&package.generate()?.generation);
    let (variant, decoder) =
        package.load_with(variant, demands, options.load_mode, |program, _, demands| {
            Ok(Decoder::load(program, facts.clone(), demands)?)
        })?;
    Ok((variant.name.clone(), decoder))
}

fn facts(entry: &GenerationEntry) -> DecoderFacts {
    DecoderFacts {
        context_length: entry.context_length as usize,
        max_prefill_tokens: entry.max_prefill_tokens as usize,
        vocab_size: entry.vocab_size as usize,
        bos_id: entry.bos_id,
        eos_ids: entry.eos_ids.clone(),
        add_bos: entry.add_bos,
        sliding: entry.sliding_window.map(|window| Sliding {
            window: window as usize,
            slots: entry.sliding_slots.map(|slots| slots as usize),
        }),
    }
}

fn tokenizer(package: &Package) -> Result<Tokenizer> {
    let path = package.root().join(&package.generate()?.tokenizer.path);
    Ok(Tokenizer::open(path)?)
}

fn template(package: &Package, tokenizer: &Tokenizer) -> Result<Option<ChatTemplate>> {
    let Some(path) = package.chat_template() else { return Ok(None) };
    let source = crate::package::read_text(&path)?;
    let generation = &package.generate()?.generation;
    let name = |id: u32| Some(String::from_utf8_lossy(tokenizer.token_bytes(id)?).into_owned());
    let specials = SpecialTokens {
        bos: generation.bos_id.or(tokenizer.bos_id()).and_then(name),
        eos: generation.eos_ids.first().copied().or(tokenizer.eos_ids().first().copied()).and_then(name),
        ..SpecialTokens::default()
    };
    Ok(Some(ChatTemplate::new(&source, specials)?))
}
