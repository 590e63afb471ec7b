//! Packages of tasks other than classifying: what they say is read, checked and held against the program.
#![allow(missing_docs)]

mod common;

use common::{Copy, fixtures, package};
use nearside_pipeline::package::manifest::{Manifest, Quality, Task, TaskKind};
use nearside_pipeline::runtime::{Error as RuntimeError, LoadMode, LoadOptions, TensorRef};
use nearside_pipeline::{Error, Model, OpenOptions, Package};
use serde_json::{Value, json};
use sha2::{Digest, Sha256};

const TASKS: [TaskKind; 4] = [TaskKind::Classify, TaskKind::Embed, TaskKind::Generate, TaskKind::Describe];

fn entry(path: &str, contents: &[u8]) -> Value {
    let sha256: String = Sha256::digest(contents).iter().map(|byte| format!("{byte:02x}")).collect();
    json!({"path": path, "bytes": contents.len(), "sha256": sha256})
}

const TOKENIZER: &[u8] = br#"{"version": "1.0"}"#;
const TEMPLATE: &[u8] = b"{{ messages[0].content }}";

/// A manifest with something in every field, for `multi.pte`: two methods on portable kernels, f32 `[2, 3]` to `[2, 3]`.
fn manifest(task: TaskKind) -> Value {
    let program = std::fs::read(fixtures().join("multi.pte")).unwrap();
    let method = |name: &str| json!({"name": name, "delegates": [], "operators": ["aten::add.out"], "coverage": 0.0, "planned_bytes": 0});
    let mut manifest = json!({
        "schema_version": 1, "name": "made-up", "task": task, "licence": "MIT", "source": "made up",
        "variants": [{
            "name": "portable", "program": entry("program.pte", &program), "external_data": [], "method": "forward",
            "executorch": "1.5.1", "torch": "2.15.0", "torchao": "0.18.0", "quantisation": "8da4w",
            "group_size": 32, "rounding": "hqq", "embedding_bits": 8, "attention": "plain", "kv_cache": "f16",
            "delegates": [], "operators": ["aten::add.out"], "coverage": 0.0, "planned_bytes": 0,
            "methods": [method("forward"), method("twice")],
            "quality": {}, "export_command": "made by hand"
        }]
    });
    let image = json!({"width": 8, "height": 8, "fit": "stretch", "filter": "area", "mean": [0, 0, 0], "std": [1, 1, 1], "layout": "nchw"});
    let generation = json!({
        "context_length": 64, "max_prefill_tokens": 16, "vocab_size": 3, "bos_id": null, "eos_ids": [2], "add_bos": false,
        "sliding_window": 8, "sliding_slots": 24, "defaults": {"temperature": 0.5, "top_k": 3, "top_p": 0.9, "repetition_penalty": 1.1}
    });
    let (own, quality) = match task {
        TaskKind::Classify => (
            json!({"labels": entry("labels.txt", b"a\nb\n"), "image": image, "output": "logits"}),
            json!({"images": 64, "top1_agreement": 1.0, "logit_rmse": 0.1, "logit_sqnr_db": 20.0, "gate": {"top1_agreement": 0.9}}),
        ),
        TaskKind::Embed => (
            json!({
                "tokenizer": entry("tokenizer.json", TOKENIZER),
                "embedding": {"dimensions": 6, "pooling": "mean", "normalize": true, "max_tokens": 256}
            }),
            json!({
                "documents": 50, "ndcg_at_10": 0.86, "ndcg_at_10_fp32": 0.87, "spearman": 0.6, "spearman_fp32": 0.61,
                "cosine_min": 0.99, "cosine_mean": 0.995, "gate": {"ndcg_at_10_drop": 0.005}
            }),
        ),
        TaskKind::Generate => (
            json!({
                "tokenizer": entry("tokenizer.json", TOKENIZER), "chat_template": entry("chat.jinja", TEMPLATE),
                "generation": generation
            }),
            json!({
                "tokens": 2048, "perplexity": 18.2, "perplexity_fp32": 17.9, "next_token_agreement": 0.93,
                "kl_divergence": 0.02, "logit_max_error": 1.5, "gate": {"perplexity_ratio": 1.02}
            }),
        ),
        TaskKind::Describe => (
            json!({
                "tokenizer": entry("tokenizer.json", TOKENIZER), "generation": generation, "image": image,
                "vision": {
                    "tokens_per_image": 4, "image_token_id": 1, "begin_image_id": 0, "end_image_id": null,
                    "bidirectional": true
                }
            }),
            json!({
                "images": 2, "tokens": 40, "logit_max_error": 0.0001, "embedding_max_error": 0.00002,
                "next_token_agreement": 1.0, "gate": {"logit_max_error": 0.001}
            }),
        ),
    };
    manifest.as_object_mut().unwrap().extend(own.as_object().unwrap().clone());
    manifest["variants"][0]["quality"] = quality;
    manifest
}

/// The package of `manifest`, with its files.
fn written(manifest: &Value) -> tempfile::TempDir {
    let folder = tempfile::tempdir().unwrap();
    let write = |name: &str, contents: &[u8]| std::fs::write(folder.path().join(name), contents).unwrap();
    write("manifest.json", manifest.to_string().as_bytes());
    write("program.pte", &std::fs::read(fixtures().join("multi.pte")).unwrap());
    write("labels.txt", b"a\nb\n");
    write("tokenizer.json", TOKENIZER);
    write("chat.jinja", TEMPLATE);
    folder
}

fn reason(manifest: &Value) -> String {
    Manifest::parse(&manifest.to_string()).expect_err("was read").to_string()
}

/// `manifest` with `value` at the JSON pointer `place`.
fn changed(manifest: &Value, place: &str, value: Value) -> Value {
    let mut manifest = manifest.clone();
    *manifest.pointer_mut(place).unwrap_or_else(|| panic!("nothing is at {place}")) = value;
    manifest
}

#[test]
fn a_package_of_each_task_opens_with_its_facts() {
    for task in TASKS {
        let folder = written(&manifest(task));
        let package = Package::open(folder.path()).unwrap();
        assert_eq!(package.manifest().task.kind(), task);
        assert_eq!(package.classifier().is_ok(), task == TaskKind::Classify);
        let tokenizer = (task != TaskKind::Classify).then(|| folder.path().join("tokenizer.json"));
        assert_eq!(package.tokenizer(), tokenizer);
        let template = (task == TaskKind::Generate).then(|| folder.path().join("chat.jinja"));
        assert_eq!(package.chat_template(), template);
    }
}

#[test]
fn what_a_manifest_says_is_read_and_written_again() {
    for task in TASKS {
        let text = manifest(task).to_string();
        let read = Manifest::parse(&text).unwrap();
        let written = serde_json::to_string(&read).unwrap();
        assert_eq!(Manifest::parse(&written).unwrap(), read);
        assert_eq!(
            serde_json::from_str::<Value>(&written).unwrap()["variants"][0]["quality"],
            manifest(task)["variants"][0]["quality"]
        );
    }
    let read = Manifest::parse(&manifest(TaskKind::Embed).to_string()).unwrap();
    let Task::Embed(embed) = &read.task else { panic!("{:?}", read.task) };
    assert_eq!((embed.embedding.dimensions, embed.embedding.max_tokens), (6, 256));
    let Some(Quality::Embed(quality)) = &read.variants[0].quality else { panic!() };
    assert_eq!((quality.documents, quality.ndcg_at_10_fp32), (50, 0.87));
    let read = Manifest::parse(&manifest(TaskKind::Describe).to_string()).unwrap();
    let Task::Describe(describe) = &read.task else { panic!("{:?}", read.task) };
    assert_eq!((describe.generation.bos_id, describe.generation.sliding_window), (None, Some(8)));
    assert_eq!((describe.vision.begin_image_id, describe.vision.end_image_id), (Some(0), None));
}

#[test]
fn every_file_of_a_task_is_checked_when_the_package_is_opened() {
    for (task, files) in [
        (TaskKind::Classify, &["labels.txt"][..]),
        (TaskKind::Embed, &["tokenizer.json"]),
        (TaskKind::Generate, &["tokenizer.json", "chat.jinja"]),
        (TaskKind::Describe, &["tokenizer.json"]),
    ] {
        for file in files {
            let folder = written(&manifest(task));
            let path = folder.path().join(file);
            let mut bytes = std::fs::read(&path).unwrap();
            bytes[0] ^= 1;
            std::fs::write(&path, &bytes).unwrap();
            let error = Package::open(folder.path()).unwrap_err();
            assert!(matches!(&error, Error::FileHash { path, .. } if path.ends_with(file)), "{error}");
            std::fs::write(&path, &bytes[1..]).unwrap();
            let error = Package::open(folder.path()).unwrap_err();
            assert!(matches!(&error, Error::FileSize { path, .. } if path.ends_with(file)), "{error}");
            std::fs::remove_file(&path).unwrap();
            let error = Package::open(folder.path()).unwrap_err();
            assert!(matches!(&error, Error::Read { path, .. } if path.ends_with(file)), "{error}");
        }
    }
    let leaves = changed(&manifest(TaskKind::Embed), "/tokenizer/path", json!("../tokenizer.json"));
    let error = Package::open(written(&leaves).path()).unwrap_err();
    assert!(error.to_string().contains("leaves the package"), "{error}");
}

#[test]
fn a_package_of_another_task_is_not_opened_as_a_classifier() {
    for task in [TaskKind::Embed, TaskKind::Generate, TaskKind::Describe] {
        let folder = written(&manifest(task));
        let error = Model::open(folder.path(), OpenOptions::default()).unwrap_err();
        assert!(
            matches!(&error, Error::WrongTask { name, found, wanted: TaskKind::Classify } if name == "made-up" && *found == task),
            "{error}"
        );
        assert!(
            error.to_string().contains(&format!("for the task `{task}`, `classify` is needed")),
            "{error}"
        );
        assert!(error.hint().contains("nearside inspect"), "{}", error.hint());
    }
}

#[test]
fn a_field_that_a_task_needs_is_missed_by_name() {
    for task in TASKS {
        let whole = manifest(task);
        let common = ["schema_version", "name", "task", "licence", "source", "variants"];
        for field in whole.as_object().unwrap().keys() {
            let mut less = whole.clone();
            less.as_object_mut().unwrap().remove(field);
            if field == "chat_template" {
                assert_eq!(Manifest::parse(&less.to_string()).unwrap().task.chat_template(), None);
                continue;
            }
            let said = reason(&less);
            assert!(said.contains(&format!("missing field `{field}`")), "{task} {field}: {said}");
            if !common.contains(&field.as_str()) {
                assert!(said.starts_with(&format!("task `{task}`: ")), "{said}");
            }
        }
    }
}

#[test]
fn a_field_or_quality_of_another_task_is_refused_with_the_task_and_the_place() {
    for task in TASKS {
        let whole = manifest(task);
        for other in TASKS {
            for (field, value) in manifest(other).as_object().unwrap() {
                if whole.get(field).is_some() || (field == "chat_template" && task == TaskKind::Describe) {
                    continue;
                }
                let mut more = whole.clone();
                more[field] = value.clone();
                let said = reason(&more);
                let expected = format!("task `{task}`: unknown field `{field}`");
                assert!(said.starts_with(&expected) && said.contains("line 1 column"), "{said}");
            }
            if other != task {
                let quality = manifest(other)["variants"][0]["quality"].clone();
                let said = reason(&changed(&whole, "/variants/0/quality", quality));
                assert!(said.starts_with(&format!("task `{task}`: ")), "{said}");
            }
        }
    }
}

#[test]
fn a_variant_may_say_why_its_quality_was_not_measured_instead() {
    for task in TASKS {
        let mut manifest = manifest(task);
        let variant = manifest["variants"][0].as_object_mut().unwrap();
        let quality = variant.remove("quality").unwrap();
        assert!(reason(&manifest).contains("the variant `portable` has neither `quality` nor"));
        manifest["variants"][0]["unmeasured"] = json!("no Core ML here");
        let read = Manifest::parse(&manifest.to_string()).unwrap();
        assert_eq!(read.variants[0].quality, None);
        assert_eq!(read.variants[0].unmeasured.as_deref(), Some("no Core ML here"));
        let written = serde_json::to_value(&read).unwrap();
        assert!(written["variants"][0].get("quality").is_none(), "{written}");
        assert_eq!(Manifest::parse(&written.to_string()).unwrap(), read);
        let empty = reason(&changed(&manifest, "/variants/0/unmeasured", json!("")));
        assert!(empty.contains("empty `unmeasured`"), "{empty}");
        manifest["variants"][0]["quality"] = quality;
        assert!(reason(&manifest).contains("both `quality` and `unmeasured`"));
    }
}

#[test]
fn a_model_of_pictures_and_text_may_be_held_to_its_divergence() {
    let place = "/variants/0/quality/kl_divergence";
    let mut whole = manifest(TaskKind::Describe);
    whole["variants"][0]["quality"]["kl_divergence"] = json!(0.0125);
    whole["variants"][0]["quality"]["gate"] = json!({"kl_divergence": 0.05});
    let read = Manifest::parse(&whole.to_string()).unwrap();
    let Some(Quality::Describe(quality)) = &read.variants[0].quality else { panic!("{read:?}") };
    assert_eq!((quality.kl_divergence, quality.gate.kl_divergence), (Some(0.0125), Some(0.05)));
    assert_eq!(quality.gate.logit_max_error, None);
    assert_eq!(serde_json::to_value(&read).unwrap()["variants"], whole["variants"]);
    assert!(reason(&changed(&whole, place, json!(null))).contains("invalid type: null"));
}

#[test]
fn impossible_numbers_are_refused_by_name() {
    for (task, place, value, expected) in [
        (TaskKind::Embed, "/embedding/max_tokens", json!(0), "embedding: max_tokens is 0"),
        (TaskKind::Embed, "/embedding/dimensions", json!(0), "embedding: dimensions is 0"),
        (TaskKind::Embed, "/embedding/dimensions", json!(-1), "invalid value: integer `-1`"),
        (TaskKind::Embed, "/embedding/pooling", json!("max"), "unknown variant `max`"),
        (TaskKind::Generate, "/generation/max_prefill_tokens", json!(65), "more than the context_length 64"),
        (
            TaskKind::Generate,
            "/generation/eos_ids",
            json!([1, 3]),
            "the token id 3 is not below the vocab_size 3",
        ),
        (TaskKind::Generate, "/generation/add_bos", json!(true), "there is no bos_id"),
        (TaskKind::Generate, "/generation/sliding_window", json!(0), "sliding_window is 0"),
        (
            TaskKind::Generate,
            "/generation/sliding_window",
            json!(null),
            "sliding_slots and no sliding_window",
        ),
        (TaskKind::Generate, "/generation/sliding_slots", json!(7), "sliding_slots is 7, it must be 8 to 64"),
        (
            TaskKind::Generate,
            "/generation/sliding_slots",
            json!(65),
            "sliding_slots is 65, it must be 8 to 64",
        ),
        (TaskKind::Generate, "/generation/sliding_slots", json!(null), "invalid type: null"),
        (TaskKind::Generate, "/generation/defaults/top_p", json!(1.5), "top_p is 1.5"),
        (TaskKind::Generate, "/generation/defaults/top_k", json!(0), "top_k is 0"),
        (TaskKind::Generate, "/generation/defaults/temperature", json!(-0.1), "temperature is -0.1"),
        (TaskKind::Generate, "/generation/defaults/temperature", json!(null), "invalid type: null"),
        (TaskKind::Generate, "/chat_template", json!(null), "invalid type: null"),
        (TaskKind::Describe, "/vision/tokens_per_image", json!(0), "tokens_per_image is 0"),
        (TaskKind::Describe, "/vision/bidirectional", json!(1), "expected a boolean"),
        (TaskKind::Describe, "/image/width", json!(0), "image: "),
        (TaskKind::Generate, "/variants/0/methods", json!([]), "fewer than two"),
        (TaskKind::Generate, "/variants/0/methods/1/name", json!("forward"), "two methods of one name"),
        (TaskKind::Generate, "/variants/0/method", json!("text_decoder"), "no method `text_decoder`"),
        (TaskKind::Generate, "/variants", json!([]), "no variants"),
    ] {
        let said = reason(&changed(&manifest(task), place, value));
        assert!(said.contains(expected), "{place}: {said}");
    }
    // They may have no value, but not be left out.
    for (task, entry, field) in [
        (TaskKind::Generate, "generation", "bos_id"),
        (TaskKind::Generate, "generation", "sliding_window"),
        (TaskKind::Describe, "vision", "end_image_id"),
    ] {
        let mut less = manifest(task);
        less[entry].as_object_mut().unwrap().remove(field);
        assert!(reason(&less).contains(&format!("missing field `{field}`")), "{field}");
    }
}

#[test]
fn a_variant_with_several_methods_is_loaded_when_each_can_run() {
    let folder = written(&manifest(TaskKind::Generate));
    let package = Package::open(folder.path()).unwrap();
    let load = |package: &Package| {
        package.load_method(None, &LoadOptions::default(), LoadMode::Mmap).map(|(_, method)| method)
    };
    assert_eq!(load(&package).unwrap().meta().name, "forward");

    let missing = changed(&manifest(TaskKind::Generate), "/variants/0/methods/1/name", json!("thrice"));
    let folder = written(&missing);
    let error = load(&Package::open(folder.path()).unwrap()).unwrap_err();
    assert!(error.to_string().contains("thrice"), "{error}");

    let delegated =
        changed(&manifest(TaskKind::Generate), "/variants/0/methods/1/delegates", json!(["XnnpackBackend"]));
    let folder = written(&delegated);
    let error = load(&Package::open(folder.path()).unwrap()).unwrap_err();
    assert!(
        matches!(&error, Error::Mismatch { reason, .. } if reason.contains("method `twice` runs in []")),
        "{error}"
    );
}

#[test]
fn demands_are_made_of_several_methods_together() {
    let folder = written(&manifest(TaskKind::Generate));
    let package = Package::open(folder.path()).unwrap();
    let refused = |demands: &LoadOptions| {
        let error = package.choose(None, demands, LoadMode::Mmap).unwrap_err();
        let Error::Runtime(error) = error else { panic!("{error}") };
        error
    };
    let error = refused(&LoadOptions { min_coverage: Some(0.5), ..LoadOptions::default() });
    let RuntimeError::CoverageTooLow { method, portable, .. } = &*error else { panic!("{error}") };
    assert_eq!(method, "forward`, `twice");
    // One call of each method.
    assert_eq!(portable.iter().map(|(_, calls)| calls).sum::<usize>(), 2, "{portable:?}");
    let delegates = Some(vec!["XnnpackBackend".to_owned()]);
    let error = refused(&LoadOptions { delegates, ..LoadOptions::default() });
    assert!(
        matches!(&*error, RuntimeError::DelegatesNotAllowed { found, .. } if found.is_empty()),
        "{error}"
    );
    let error = refused(&LoadOptions { memory_budget_bytes: Some(1), ..LoadOptions::default() });
    assert!(matches!(&*error, RuntimeError::OverBudget { .. }), "{error}");
    package.choose(None, &LoadOptions::default(), LoadMode::Mmap).unwrap();
}

#[test]
fn a_program_whose_logits_are_not_the_vocabulary_is_refused() {
    let wide = changed(&manifest(TaskKind::Generate), "/generation/vocab_size", json!(49152));
    let folder = written(&wide);
    let package = Package::open(folder.path()).unwrap();
    let error = package.load_method(None, &LoadOptions::default(), LoadMode::Mmap).unwrap_err();
    assert!(
        matches!(&error, Error::Mismatch { reason, .. } if reason.contains("vocab_size is 49152")),
        "{error}"
    );
}

#[test]
fn an_embedder_takes_token_ids() {
    let folder = written(&manifest(TaskKind::Embed));
    let package = Package::open(folder.path()).unwrap();
    let error = package.load_method(None, &LoadOptions::default(), LoadMode::Mmap).unwrap_err();
    assert!(
        matches!(&error, Error::WrongTensor { found, wanted, .. } if found == "takes a tensor of f32" && wanted == "i64"),
        "{error}"
    );
    assert!(error.hint().contains("i64"), "{}", error.hint());
}

/// The committed embedder.
fn minilm() -> std::path::PathBuf {
    fixtures().join("../all-minilm-l6-v2.nearside")
}

#[test]
fn the_committed_embedder_loads_and_gives_vectors_of_length_1_for_texts_of_any_length() {
    let package = Package::open(minilm()).unwrap();
    let (variant, mut method) = package.load_method(None, &LoadOptions::default(), LoadMode::Mmap).unwrap();
    assert_eq!(variant.name, "xnnpack-int8-table4");
    let mut embed = |ids: &[i64]| {
        let sizes = [1, ids.len() as i32];
        let outputs = method.execute(&[TensorRef::new(ids, &sizes).unwrap()]).unwrap();
        outputs.tensor(0).unwrap().as_slice::<f32>().unwrap().to_vec()
    };
    // [CLS] a man is eating food . [SEP], and someone instead of a man.
    let man = embed(&[101, 1037, 2158, 2003, 5983, 2833, 1012, 102]);
    let someone = embed(&[101, 2619, 2003, 5983, 2833, 1012, 102]);
    let longest = embed(&[[101].as_slice(), &[4117; 254], &[102]].concat());
    let cosine = |a: &[f32], b: &[f32]| a.iter().zip(b).map(|(a, b)| a * b).sum::<f32>();
    for embedding in [&man, &someone, &longest] {
        assert_eq!(embedding.len(), 384);
        assert!((cosine(embedding, embedding) - 1.0).abs() < 1e-4);
    }
    assert!(cosine(&man, &someone) > 0.6, "{}", cosine(&man, &someone));
    assert!(cosine(&man, &longest) < 0.3, "{}", cosine(&man, &longest));
}

#[test]
fn an_embedder_with_another_manifest_is_refused_by_what_differs() {
    for (from, to, said) in [
        ("\"dimensions\": 384", "\"dimensions\": 768", "has 768 dimensions"),
        ("\"max_tokens\": 256", "\"max_tokens\": 300", "at most [1, 256], the manifest says 1 to 300"),
        ("\"XnnpackBackend\"", "\"QnnBackend\"", "QnnBackend"),
    ] {
        let copy = Copy::of(minilm());
        copy.edit_manifest(from, to);
        let package = Package::open(copy.path()).unwrap();
        let error = package.load_method(None, &LoadOptions::default(), LoadMode::Mmap).unwrap_err();
        assert!(matches!(&error, Error::Mismatch { reason, .. } if reason.contains(said)), "{error}");
    }
}

#[test]
fn a_classifiers_manifest_without_any_of_the_new_fields_is_read() {
    let copy = Copy::of(package());
    let variant = &Package::open(copy.path()).unwrap().manifest().variants[0].clone();
    assert_eq!(
        (variant.group_size, &variant.rounding, variant.embedding_bits, &variant.methods),
        (None, &None, None, &None)
    );
    assert_eq!(variant.method_names(), ["forward"]);
}
