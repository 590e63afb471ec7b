from __future__ import annotations

import copy
import dataclasses
import json
from pathlib import Path
from typing import Any

import pytest
from conftest import EFFICIENTNET, ROOT, TINY, VARIANTS
from jsonschema import Draft202012Validator, ValidationError

from nearside_export.errors import ExportError, PackageError
from nearside_export.image_spec import ImageSpec
from nearside_export.manifest import (
    Classify,
    ClassifyGate,
    ClassifyQuality,
    Describe,
    DescribeGate,
    DescribeQuality,
    Embed,
    EmbeddingFacts,
    EmbedGate,
    EmbedQuality,
    FileRef,
    Generate,
    GenerateGate,
    GenerateQuality,
    GenerationDefaults,
    GenerationFacts,
    Manifest,
    MethodFacts,
    Quality,
    Task,
    Variant,
    VisionFacts,
)
from nearside_export.package import check_files, file_ref

SCHEMA = json.loads((ROOT / "docs" / "manifest.schema.json").read_text(encoding="utf-8"))
VALIDATOR = Draft202012Validator(SCHEMA)
DEFS = SCHEMA["$defs"]

LABELS = FileRef("labels.txt", 30, "2" * 64)
TOKENIZER = FileRef("tokenizer.json", 40, "3" * 64)
TEMPLATE = FileRef("chat_template.jinja", 50, "4" * 64)
IMAGE = ImageSpec(width=32, height=32, fit="letterbox", pad=(1, 2, 3))
GENERATION = GenerationFacts(
    context_length=512,
    max_prefill_tokens=128,
    vocab_size=49152,
    bos_id=1,
    eos_ids=[2, 0],
    add_bos=True,
    sliding_window=64,
    sliding_slots=192,
    defaults=GenerationDefaults(0.7, 40, 0.95, 1.1),
)

TASKS: dict[str, tuple[Task, Quality]] = {
    "classify": (
        Classify(LABELS, IMAGE, "logits"),
        ClassifyQuality(64, 0.9688, 0.12, 21.5, ClassifyGate(0.9)),
    ),
    "embed": (
        Embed(TOKENIZER, EmbeddingFacts(384, "mean", True, 256)),
        EmbedQuality(50, 0.87, 0.8686, 0.61, 0.612, 0.991, 0.996, EmbedGate(0.005)),
    ),
    "generate": (
        Generate(TOKENIZER, GENERATION, TEMPLATE),
        GenerateQuality(2048, 18.2, 17.9, 0.93, 0.02, 1.5, GenerateGate(1.02, 2.0, 0, 0.05), 20, 0),
    ),
    "describe": (
        Describe(
            TOKENIZER, GENERATION, IMAGE, VisionFacts(256, 262144, 255999, None, True), TEMPLATE
        ),
        DescribeQuality(2, 40, 1e-4, 2e-5, 1.0, DescribeGate(1e-3, 0.05), 0.01),
    ),
}
"""One of each task, with something in every field."""

FIELDS = [
    (task, field.name) for task, (own, _) in TASKS.items() for field in dataclasses.fields(own)
]


def manifest_of(task: str) -> Manifest:
    """A manifest that says something in every field."""
    own, quality = TASKS[task]
    methods = [
        MethodFacts("forward", ["XnnpackBackend"], ["aten::mean.out"], 0.98, 4000),
        MethodFacts("token_embedding", [], [], 1.0, 64),
    ]
    variant = Variant(
        name="xnnpack-int8",
        program=FileRef("xnnpack-int8.pte", 10, "0" * 64),
        external_data=[FileRef("weights/shared.ptd", 20, "1" * 64)],
        method="forward",
        executorch="1.5.1",
        torch="2.15.0",
        torchao="0.18.0",
        quantisation="8da4w",
        group_size=32,
        rounding="hqq",
        embedding_bits=8,
        attention="fused",
        kv_cache="int8",
        delegates=["XnnpackBackend"],
        operators=["aten::mean.out"],
        coverage=0.98,
        planned_bytes=4064,
        methods=methods,
        quality=quality,
        export_command=f"nearside-export {task} some-model",
    )
    return Manifest("some-model", "Apache-2.0", "made up", own, [variant])


@pytest.fixture(params=list(TASKS))
def manifest(request: pytest.FixtureRequest) -> Manifest:
    return manifest_of(request.param)


def read(raw: object) -> Manifest:
    return Manifest.from_json(json.dumps(raw))


def changed(raw: dict[str, Any], path: str, value: object) -> dict[str, Any]:
    """A copy of ``raw`` with ``value`` at ``path``, such as ``variants.0.name``."""
    raw = copy.deepcopy(raw)
    *way, last = [int(p) if p.isdecimal() else p for p in path.split(".")]
    place: Any = raw
    for step in way:
        place = place[step]
    place[last] = value
    return raw


def test_a_manifest_survives_writing_and_reading(manifest: Manifest) -> None:
    assert Manifest.from_json(manifest.to_json()) == manifest


def test_the_schema_is_a_valid_schema() -> None:
    Draft202012Validator.check_schema(SCHEMA)


def test_a_written_manifest_follows_the_published_schema(manifest: Manifest) -> None:
    VALIDATOR.validate(json.loads(manifest.to_json()))


def test_what_has_no_value_is_left_out_unless_null_means_something() -> None:
    manifest = manifest_of("generate")
    assert isinstance(manifest.task, Generate)
    plain = dataclasses.replace(
        manifest.variants[0],
        methods=None,
        group_size=None,
        rounding=None,
        attention=None,
        kv_cache=None,
    )
    facts = dataclasses.replace(
        manifest.task.generation, bos_id=None, add_bos=False, defaults=GenerationDefaults()
    )
    task = Generate(TOKENIZER, facts)
    manifest = dataclasses.replace(manifest, task=task, variants=[plain])
    raw = json.loads(manifest.to_json())
    VALIDATOR.validate(raw)
    assert "chat_template" not in raw
    assert (raw["generation"]["bos_id"], raw["generation"]["defaults"]) == (None, {})
    assert not {"methods", "group_size", "rounding", "attention", "kv_cache"} & set(
        raw["variants"][0]
    )
    assert read(raw) == manifest
    for path in ("chat_template", "variants.0.rounding"):
        with pytest.raises(PackageError, match=rf"{path.split('.')[-1]} is null"):
            read(changed(raw, path, None))
        with pytest.raises(ValidationError):
            VALIDATOR.validate(changed(raw, path, None))


@pytest.mark.parametrize("package", [EFFICIENTNET, TINY, VARIANTS], ids=lambda p: p.name)
def test_the_committed_manifests_follow_the_published_schema(package: Path) -> None:
    raw = json.loads((package / "manifest.json").read_text(encoding="utf-8"))
    VALIDATOR.validate(raw)
    assert json.loads(Manifest.read(package).to_json()).keys() == raw.keys()


@pytest.mark.parametrize(
    ("cls", "schema"),
    [
        (ImageSpec, DEFS["image"]),
        (FileRef, DEFS["file"]),
        (EmbeddingFacts, DEFS["embedding"]),
        (GenerationFacts, DEFS["generation"]),
        (GenerationDefaults, DEFS["generation"]["properties"]["defaults"]),
        (VisionFacts, DEFS["vision"]),
        (Variant, DEFS["variant"]),
        (MethodFacts, DEFS["variant"]["properties"]["methods"]["items"]),
        (ClassifyQuality, DEFS["classify_quality"]),
        (EmbedQuality, DEFS["embed_quality"]),
        (GenerateQuality, DEFS["generate_quality"]),
        (DescribeQuality, DEFS["describe_quality"]),
        (GenerateGate, DEFS["generate_quality"]["properties"]["gate"]),
        (DescribeGate, DEFS["describe_quality"]["properties"]["gate"]),
    ],
    ids=lambda x: getattr(x, "__name__", ""),
)
def test_writer_and_schema_name_the_same_fields(cls: type, schema: dict[str, Any]) -> None:
    assert {f.name for f in dataclasses.fields(cls)} == set(schema["properties"])


def test_writer_and_schema_give_each_task_the_same_fields() -> None:
    common = {"schema_version", "name", "task", "licence", "source", "variants"}
    own = {name for _, name in FIELDS}
    assert set(SCHEMA["properties"]) == common | own
    for task, rule in zip(TASKS, SCHEMA["allOf"], strict=True):
        assert rule["if"]["properties"]["task"]["const"] == task
        refused = {name for name, rule in rule["then"]["properties"].items() if rule is False}
        assert refused == own - {name for of, name in FIELDS if of == task}


@pytest.mark.parametrize(
    "path", ["../x.pte", "/x.pte", "a/../x.pte", "C:\\x.pte", "a\\x.pte", "..", "", "a\nb"]
)
def test_paths_that_leave_the_package_are_refused(path: str) -> None:
    raw = changed(json.loads(manifest_of("embed").to_json()), "tokenizer.path", path)
    with pytest.raises(ValidationError):
        VALIDATOR.validate(raw)
    with pytest.raises(PackageError, match=r"tokenizer path .* leaves the package"):
        read(raw)


@pytest.mark.parametrize(("task", "field"), FIELDS)
def test_a_task_without_a_field_of_its_own_is_refused(task: str, field: str) -> None:
    raw = json.loads(manifest_of(task).to_json())
    del raw[field]
    if field == "chat_template":
        assert read(raw).task == dataclasses.replace(TASKS[task][0], chat_template=None)
        return
    with pytest.raises(PackageError, match=rf"no field '{field}', which task {task} needs"):
        read(raw)
    with pytest.raises(ValidationError):
        VALIDATOR.validate(raw)


@pytest.mark.parametrize("task", TASKS)
def test_fields_of_other_tasks_are_refused(task: str) -> None:
    raw = json.loads(manifest_of(task).to_json())
    others = {k: v for t in TASKS for k, v in json.loads(manifest_of(t).to_json()).items()}
    strange = others.keys() - raw.keys()
    assert strange
    for field in strange:
        more = {**raw, field: others[field]}
        with pytest.raises(PackageError, match=rf"'{field}', which task {task} does not have"):
            read(more)
        with pytest.raises(ValidationError):
            VALIDATOR.validate(more)


@pytest.mark.parametrize("task", TASKS)
def test_the_quality_of_another_task_is_refused(task: str) -> None:
    raw = json.loads(manifest_of(task).to_json())
    other = TASKS["embed" if task != "embed" else "generate"][1]
    raw["variants"][0]["quality"] = dataclasses.asdict(other)
    with pytest.raises(PackageError, match=r"variants\[0\]\.quality has the unknown field"):
        read(raw)
    with pytest.raises(ValidationError):
        VALIDATOR.validate(raw)
    with pytest.raises(PackageError, match=f"task {task} has"):
        dataclasses.replace(
            manifest_of(task),
            variants=[dataclasses.replace(manifest_of(task).variants[0], quality=other)],
        )


@pytest.mark.parametrize(
    ("task", "path", "value", "said"),
    [
        ("classify", "name", 3, "name is a whole number, it must be text"),
        ("classify", "image.width", 32.5, "image.width is a number, it must be a whole number"),
        ("classify", "image.fit", "squash", "image fit 'squash' must be one of"),
        ("classify", "image.mean", [0, 0], "image.mean has 2 entries, it must have 3"),
        ("classify", "output", "scores", "output is 'scores', it must be one of logits"),
        ("classify", "labels.bytes", True, "labels.bytes is true or false"),
        ("classify", "labels.bytes", 0, "labels.txt has 0 bytes"),
        ("classify", "labels.sha256", "A" * 64, "64 lower-case hex digits"),
        ("classify", "variants", [], "has no variants"),
        ("classify", "variants", {}, "variants is an object, it must be a list"),
        ("classify", "variants.0.coverage", 1.5, r"variants\[0\] coverage 1.5 must be 0 to 1"),
        ("classify", "variants.0.speed", 1, r"variants\[0\] has the unknown field 'speed'"),
        ("classify", "variants.0.quantisation", "int3", r"quantisation is 'int3', it must be one"),
        ("classify", "variants.0.embedding_bits", 8.0, r"embedding_bits is 8.0"),
        ("classify", "variants.0.methods.1.name", "forward", "each once"),
        ("classify", "variants.0.method", "text_decoder", "is not among the methods"),
        ("classify", "task", "paint", "task 'paint'; known: classify, describe"),
        ("embed", "embedding.pooling", "max", "embedding.pooling is 'max', it must be one of mean"),
        ("embed", "embedding.max_tokens", 0, "embedding max_tokens 0 must be at least 1"),
        ("embed", "embedding.dimensions", "384", "embedding.dimensions is text"),
        ("embed", "embedding.size", 1, "embedding has the unknown field 'size'"),
        ("embed", "variants.0.quality.gate", {}, "quality.gate has no field 'ndcg_at_10_drop'"),
        ("generate", "generation.eos_ids", [2, 49152], "token id 49152 is not below vocab_size"),
        ("generate", "generation.bos_id", None, "add_bos is true and there is no bos_id"),
        ("generate", "generation.max_prefill_tokens", 1024, "more than context_length 512"),
        ("generate", "generation.sliding_slots", 63, "sliding_slots 63 must be 64 to 512"),
        ("generate", "generation.sliding_slots", 513, "sliding_slots 513 must be 64 to 512"),
        ("generate", "generation.sliding_slots", None, "sliding_slots is null"),
        ("generate", "generation.sliding_window", None, "sliding_slots and no sliding_window"),
        ("generate", "generation.defaults.top_p", 0, "top_p 0.0 must be above 0"),
        ("describe", "vision.begin_image_id", -1, "begin_image_id -1 must be at least 0"),
        (
            "describe",
            "variants.0.quality.gate",
            {},
            "gate of a describe variant holds it to nothing",
        ),
        ("describe", "vision.tokens_per_image", "all", "vision.tokens_per_image is text"),
    ],
)
def test_what_is_wrong_is_named_with_its_place(
    task: str, path: str, value: object, said: str
) -> None:
    with pytest.raises(PackageError, match=said):
        read(changed(json.loads(manifest_of(task).to_json()), path, value))


def test_every_missing_field_of_a_variant_is_named(manifest: Manifest) -> None:
    whole = json.loads(manifest.to_json())
    optional = {"methods", "group_size", "rounding", "embedding_bits", "attention", "kv_cache"}
    for field in set(whole["variants"][0]) - optional:
        raw = copy.deepcopy(whole)
        del raw["variants"][0][field]
        with pytest.raises(PackageError, match=rf"variants\[0\] has no field '{field}'"):
            read(raw)
        with pytest.raises(ValidationError):
            VALIDATOR.validate(raw)


def test_a_variant_says_why_its_quality_was_not_measured(manifest: Manifest) -> None:
    reason = "no Core ML here"
    variant = dataclasses.replace(manifest.variants[0], quality=None, unmeasured=reason)
    raw = json.loads(dataclasses.replace(manifest, variants=[variant]).to_json())
    VALIDATOR.validate(raw)
    assert "quality" not in raw["variants"][0]
    assert read(raw).variants == [variant]
    both = changed(
        raw, "variants.0.quality", json.loads(manifest.to_json())["variants"][0]["quality"]
    )
    for wrong in (both, changed(raw, "variants.0.unmeasured", "")):
        with pytest.raises(PackageError, match="'unmeasured'"):
            read(wrong)
        with pytest.raises(ValidationError):
            VALIDATOR.validate(wrong)


@pytest.mark.parametrize(
    "text", ["", "[]", "{", '{"schema_version": 2}', "null", '{"schema_version": NaN}']
)
def test_something_else_than_a_manifest_is_a_package_error(text: str) -> None:
    with pytest.raises(PackageError):
        Manifest.from_json(text)


def test_a_number_that_json_does_not_have_is_neither_read_nor_written() -> None:
    text = manifest_of("embed").to_json().replace("0.8686", "NaN")
    with pytest.raises(PackageError, match="NaN is not a JSON number"):
        Manifest.from_json(text)
    embed, quality = TASKS["embed"]
    assert isinstance(quality, EmbedQuality)
    broken = dataclasses.replace(quality, spearman=float("nan"))
    variant = dataclasses.replace(manifest_of("embed").variants[0], quality=broken)
    with pytest.raises(ValueError, match="JSON compliant"):
        Manifest("broken", "MIT", "made up", embed, [variant]).to_json()


def test_numbers_and_nesting_beyond_measure_are_refused() -> None:
    text = manifest_of("embed").to_json()
    for number in ("1e999", "9" * 400):
        with pytest.raises(PackageError, match="ndcg_at_10_fp32 is a number too large"):
            Manifest.from_json(text.replace("0.8686", number))
    with pytest.raises(PackageError, match="is not JSON"):
        Manifest.from_json("[" * 100_000)


def test_an_unknown_variant_is_refused_with_those_that_exist(manifest: Manifest) -> None:
    with pytest.raises(PackageError, match="it has: xnnpack-int8"):
        manifest.variant("qnn-int8")


def test_two_variants_of_a_name_are_refused(manifest: Manifest) -> None:
    with pytest.raises(PackageError, match="'xnnpack-int8' twice"):
        dataclasses.replace(manifest, variants=manifest.variants * 2)


def test_every_file_of_every_task_is_checked(manifest: Manifest, tmp_path: Path) -> None:
    raw = json.loads(manifest.to_json())

    def fill(value: object) -> None:
        """Make each file that the manifest names, and name it as it is."""
        if isinstance(value, dict) and value.keys() == {"path", "bytes", "sha256"}:
            file = tmp_path / str(value["path"])
            file.parent.mkdir(exist_ok=True)
            file.write_text(f"contents of {value['path']}")
            value.update(dataclasses.asdict(file_ref(tmp_path, str(value["path"]))))
        elif isinstance(value, dict | list):
            for part in value.values() if isinstance(value, dict) else value:
                fill(part)

    fill(raw)
    manifest = read(raw)
    check_files(tmp_path, manifest)
    paths = {p.relative_to(tmp_path).as_posix() for p in tmp_path.rglob("*") if p.is_file()}
    assert {ref.path for ref in manifest.files()} == paths
    for path in paths:
        whole = (tmp_path / path).read_bytes()
        (tmp_path / path).write_bytes(b"")
        with pytest.raises(PackageError, match=rf"{path} has 0 bytes"):
            check_files(tmp_path, manifest)
        (tmp_path / path).write_bytes(whole)
    check_files(tmp_path, manifest)


def test_an_empty_file_does_not_go_into_a_package(tmp_path: Path) -> None:
    (tmp_path / "labels.txt").touch()
    with pytest.raises(ExportError, match="is empty"):
        file_ref(tmp_path, "labels.txt")
