//! `nearside inspect` on packages of every task.
#![allow(missing_docs)]

use serde_json::{Value, json};
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

fn models() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../models")
}

fn nearside(args: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_nearside")).args(args).output().unwrap()
}

fn inspected(package: &Path) -> String {
    let output = nearside(&["inspect", package.to_str().unwrap()]);
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8(output.stdout).unwrap()
}

/// The tiny classifier's program and labels as a package of another task: any text will do for a tokenizer.
fn package(own: &Value, variant: &Value) -> tempfile::TempDir {
    let tiny = models().join("fixtures/tiny-classifier.nearside");
    let folder = tempfile::tempdir().unwrap();
    for entry in std::fs::read_dir(&tiny).unwrap() {
        let entry = entry.unwrap();
        std::fs::copy(entry.path(), folder.path().join(entry.file_name())).unwrap();
    }
    let text = std::fs::read_to_string(tiny.join("manifest.json")).unwrap();
    let mut manifest: Value = serde_json::from_str(&text).unwrap();
    let fields = manifest.as_object_mut().unwrap();
    let labels = fields.remove("labels").unwrap();
    let image = fields.remove("image").unwrap();
    fields.remove("output");
    fields.insert("tokenizer".into(), labels.clone());
    for (name, value) in own.as_object().unwrap() {
        let value = match name.as_str() {
            "chat_template" => labels.clone(),
            "image" => image.clone(),
            _ => value.clone(),
        };
        fields.insert(name.clone(), value);
    }
    for (name, value) in variant.as_object().unwrap() {
        manifest["variants"][0][name] = value.clone();
    }
    std::fs::write(folder.path().join("manifest.json"), manifest.to_string()).unwrap();
    folder
}

fn generation() -> Value {
    json!({
        "context_length": 2048, "max_prefill_tokens": 128, "vocab_size": 49152, "bos_id": 1, "eos_ids": [2, 0],
        "add_bos": false, "sliding_window": 512, "sliding_slots": 640, "defaults": {"temperature": 0.5, "top_k": 40}
    })
}

fn holds(text: &str, lines: &[&str]) {
    for line in lines {
        assert!(text.contains(line), "{line} is not in\n{text}");
    }
}

#[test]
fn an_embedder_is_shown_with_its_tokenizer_embedding_and_figures() {
    let minilm = models().join("all-minilm-l6-v2.nearside");
    let text = inspected(&minilm);
    holds(
        &text,
        &[
            "task       embed",
            "tokenizer.json, 466081 bytes",
            "384 dimensions, mean of the tokens, length 1; of at most 256 tokens",
            "pt2e-dynamic-int8, embedding table of 4 bits",
            "NDCG@10 0.8702 (fp32 0.8686)",
            "i64 [1, 256] at most",
        ],
    );
    assert!(!text.contains("problem") && !text.contains("no kernel"), "{text}");
    let output = nearside(&["inspect", minilm.to_str().unwrap(), "--json"]);
    let document: Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!(document["manifest"]["task"], "embed");
    assert_eq!(document["manifest"]["embedding"]["dimensions"], 384);
    assert_eq!(document["manifest"]["variants"][0]["quality"]["documents"], 50);
}

#[test]
fn a_language_model_is_shown_with_context_vocabulary_and_sampling() {
    let variant = json!({
        "quantisation": "8da4w", "group_size": 32, "rounding": "hqq", "embedding_bits": 8, "attention": "fused",
        "kv_cache": "int8",
        "quality": {
            "tokens": 2048, "perplexity": 18.2, "perplexity_fp32": 17.9, "next_token_agreement": 0.93,
            "kl_divergence": 0.02, "logit_max_error": 1.5, "gate": {"perplexity_ratio": 1.1}
        }
    });
    let own = json!({"task": "generate", "chat_template": {}, "generation": generation()});
    let text = inspected(package(&own, &variant).path());
    holds(
        &text,
        &[
            "chat template  labels.txt",
            "2048 tokens, at most 128 a call, sliding window of 512 in 640 slots",
            "49152 tokens, begin 1 (not added), end 2, 0",
            "temperature 0.5, top-k 40",
            "8da4w, groups of 32, rounding hqq, embedding table of 8 bits, fused attention, int8 KV cache",
            "perplexity 18.200 (fp32 17.900) over 2048 tokens, 93.0 % next-token agreement, KL 0.0200 nats",
        ],
    );
}

#[test]
fn a_variant_whose_quality_was_not_measured_says_so_and_why() {
    let folder = tempfile::tempdir().unwrap();
    let tiny = models().join("fixtures/tiny-classifier.nearside");
    for entry in std::fs::read_dir(&tiny).unwrap() {
        let entry = entry.unwrap();
        std::fs::copy(entry.path(), folder.path().join(entry.file_name())).unwrap();
    }
    let place = folder.path().join("manifest.json");
    let mut manifest: Value = serde_json::from_str(&std::fs::read_to_string(&place).unwrap()).unwrap();
    let variant = manifest["variants"][0].as_object_mut().unwrap();
    variant.remove("quality");
    variant.insert("unmeasured".into(), json!("no Core ML on the machine that exported it"));
    std::fs::write(&place, manifest.to_string()).unwrap();
    holds(
        &inspected(folder.path()),
        &["quality       not measured: no Core ML on the machine that exported it"],
    );
}

#[test]
fn a_model_of_pictures_and_text_is_shown_with_both() {
    let mut variant = json!({
        "quality": {
            "images": 2, "tokens": 40, "logit_max_error": 0.0001, "embedding_max_error": 0.00002,
            "next_token_agreement": 1.0, "gate": {"logit_max_error": 0.001}
        }
    });
    let vision = json!({
        "tokens_per_image": 256, "image_token_id": 9, "begin_image_id": 7, "end_image_id": null,
        "bidirectional": true
    });
    let own = json!({"task": "describe", "image": {}, "vision": vision, "generation": generation()});
    let text = inspected(package(&own, &variant).path());
    holds(
        &text,
        &[
            "task           describe",
            "32x32, CenterCrop",
            "256 tokens of id 9 each, between 7 and none, which see each other",
            "chat template  none",
            "logits within 1.0e-4 of fp32 over 2 images and 40 tokens, 100.0 % next-token agreement",
        ],
    );
    assert!(!text.contains("KL "), "{text}");
    variant["quality"]["kl_divergence"] = json!(0.0125);
    variant["quality"]["gate"] = json!({"kl_divergence": 0.05});
    let text = inspected(package(&own, &variant).path());
    holds(&text, &["100.0 % next-token agreement, KL 0.0125 nats"]);
}

#[test]
fn an_embedder_is_not_run_on_pictures() {
    let minilm = models().join("all-minilm-l6-v2.nearside").display().to_string();
    for args in [&["run", &minilm, "x.png"][..], &["profile", &minilm, "--image", "x.png"]] {
        let output = nearside(args);
        let said = String::from_utf8(output.stderr).unwrap();
        assert_eq!(output.status.code(), Some(1), "{said}");
        assert!(said.contains("for the task `embed`, `classify` is needed"), "{args:?}: {said}");
        assert!(said.contains("hint: "), "{said}");
    }
}
