//! What a manifest says for its task alone, for people.

use nearside_pipeline::Package;
use nearside_pipeline::package::manifest::{
    EmbeddingEntry, FileEntry, GenerationEntry, ImageEntry, Pooling, Quality, Task, Variant, VisionEntry,
};

/// Name and text, for [`crate::table::facts`].
type Fact = (&'static str, String);

/// What the package's task needs to know.
pub(super) fn facts(package: &Package) -> Vec<Fact> {
    match &package.manifest().task {
        Task::Classify(classify) => {
            let labels = package.classifier().map_or(0, |classifier| classifier.labels().len());
            vec![image(&classify.image), ("labels", labels.to_string())]
        }
        Task::Embed(embed) => vec![tokenizer(&embed.tokenizer), embedding(&embed.embedding)],
        Task::Generate(generate) => {
            text(&generate.tokenizer, generate.chat_template.as_ref(), &generate.generation)
        }
        Task::Describe(describe) => {
            let mut facts = vec![image(&describe.image), vision(&describe.vision)];
            facts.extend(text(&describe.tokenizer, describe.chat_template.as_ref(), &describe.generation));
            facts
        }
    }
}

fn image(image: &ImageEntry) -> Fact {
    let ImageEntry { width, height, fit, filter, layout, .. } = image;
    ("image", format!("{width}x{height}, {fit:?}, {filter:?}, {layout:?}"))
}

fn tokenizer(tokenizer: &FileEntry) -> Fact {
    ("tokenizer", format!("{}, {} bytes", tokenizer.path, tokenizer.bytes))
}

fn embedding(embedding: &EmbeddingEntry) -> Fact {
    let pooling = match embedding.pooling {
        Pooling::Mean => "mean of the tokens",
        Pooling::Cls => "first token",
        Pooling::Last => "last token",
    };
    let length = if embedding.normalize { "length 1" } else { "not normalised" };
    let EmbeddingEntry { dimensions, max_tokens, .. } = embedding;
    ("embedding", format!("{dimensions} dimensions, {pooling}, {length}; of at most {max_tokens} tokens"))
}

fn text(tokenizer_file: &FileEntry, template: Option<&FileEntry>, generation: &GenerationEntry) -> Vec<Fact> {
    let GenerationEntry { context_length, max_prefill_tokens, vocab_size, .. } = generation;
    let mut context = format!("{context_length} tokens, at most {max_prefill_tokens} a call");
    if let Some(window) = generation.sliding_window {
        context += &format!(", sliding window of {window}");
        if let Some(slots) = generation.sliding_slots {
            context += &format!(" in {slots} slots");
        }
    }
    let begin = match generation.bos_id {
        Some(id) if generation.add_bos => format!(", begin {id}"),
        Some(id) => format!(", begin {id} (not added)"),
        None => String::new(),
    };
    let ends: Vec<_> = generation.eos_ids.iter().map(u32::to_string).collect();
    let ends = if ends.is_empty() { "none".into() } else { ends.join(", ") };
    vec![
        tokenizer(tokenizer_file),
        ("chat template", template.map_or("none".into(), |file| file.path.clone())),
        ("context", context),
        ("vocabulary", format!("{vocab_size} tokens{begin}, end {ends}")),
        ("sampling", sampling(generation)),
    ]
}

fn sampling(generation: &GenerationEntry) -> String {
    let defaults = &generation.defaults;
    let given = [
        defaults.temperature.map(|value| format!("temperature {value}")),
        defaults.top_k.map(|value| format!("top-k {value}")),
        defaults.top_p.map(|value| format!("top-p {value}")),
        defaults.repetition_penalty.map(|value| format!("repetition penalty {value}")),
    ];
    let given: Vec<_> = given.into_iter().flatten().collect();
    if given.is_empty() { "the runtime's defaults".into() } else { given.join(", ") }
}

fn vision(vision: &VisionEntry) -> Fact {
    let VisionEntry { tokens_per_image, image_token_id, .. } = vision;
    let around = match (vision.begin_image_id, vision.end_image_id) {
        (None, None) => String::new(),
        (begin, end) => {
            let id = |id: Option<u32>| id.map_or("none".into(), |id| id.to_string());
            format!(", between {} and {}", id(begin), id(end))
        }
    };
    let seen = if vision.bidirectional { ", which see each other" } else { "" };
    ("pictures", format!("{tokens_per_image} tokens of id {image_token_id} each{around}{seen}"))
}

/// How the variant's weights are kept.
pub(super) fn quantisation(variant: &Variant) -> String {
    let more = [
        variant.group_size.map(|size| format!("groups of {size}")),
        variant.rounding.as_ref().map(|rounding| format!("rounding {rounding}")),
        variant.embedding_bits.map(|bits| format!("embedding table of {bits} bits")),
        variant.attention.as_ref().map(|attention| format!("{attention} attention")),
        variant.kv_cache.as_ref().map(|kept| format!("{kept} KV cache")),
    ];
    let more = more.into_iter().flatten();
    std::iter::once(variant.quantisation.clone()).chain(more).collect::<Vec<_>>().join(", ")
}

/// What was measured of the variant, or why nothing was.
pub(super) fn quality(variant: &Variant) -> String {
    match &variant.quality {
        Some(found) => measured(found),
        None => format!("not measured: {}", variant.unmeasured.as_deref().unwrap_or("nobody says why")),
    }
}

fn measured(quality: &Quality) -> String {
    let percent = |share: f64| share * 100.0;
    match quality {
        Quality::Classify(found) => format!(
            "{:.1} % top-1 agreement with fp32 over {} images, logits {:.1} dB",
            percent(found.top1_agreement),
            found.images,
            found.logit_sqnr_db
        ),
        Quality::Embed(found) => format!(
            "NDCG@10 {:.4} (fp32 {:.4}), Spearman {:.4} (fp32 {:.4}) over {} documents; cosine to fp32 at least {:.4}",
            found.ndcg_at_10,
            found.ndcg_at_10_fp32,
            found.spearman,
            found.spearman_fp32,
            found.documents,
            found.cosine_min
        ),
        Quality::Generate(found) => format!(
            "perplexity {:.3} (fp32 {:.3}) over {} tokens, {:.1} % next-token agreement, KL {:.4} nats",
            found.perplexity,
            found.perplexity_fp32,
            found.tokens,
            percent(found.next_token_agreement),
            found.kl_divergence
        ),
        Quality::Describe(found) => format!(
            "logits within {:.1e} of fp32 over {} images and {} tokens, {:.1} % next-token agreement{}",
            found.logit_max_error,
            found.images,
            found.tokens,
            percent(found.next_token_agreement),
            found.kl_divergence.map_or(String::new(), |kl| format!(", KL {kl:.4} nats"))
        ),
    }
}
