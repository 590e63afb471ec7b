from __future__ import annotations

import copy
import dataclasses
import json
from pathlib import Path
from typing import Any

import pytest
from conftest import EFFICIENTNET, ROOT, TINY
from jsonschema import Draft202012Validator, ValidationError

from nearside_export.errors import PackageError
from nearside_export.image_spec import ImageSpec
from nearside_export.manifest import FileRef, Gate, Manifest, Quality, Variant

SCHEMA = json.loads((ROOT / "docs" / "manifest.schema.json").read_text(encoding="utf-8"))
VALIDATOR = Draft202012Validator(SCHEMA)


@pytest.fixture
def manifest() -> Manifest:
    """A manifest that says something in every field."""
    quality = Quality(64, 0.9688, 0.12, 21.5, Gate(0.9))
    variant = Variant(
        name="xnnpack-int8",
        program=FileRef("xnnpack-int8.pte", 10, "0" * 64),
        external_data=[FileRef("weights/shared.ptd", 20, "1" * 64)],
        method="forward",
        executorch="1.5.1",
        torch="2.15.0",
        torchao="0.18.0",
        quantisation="pt2e-static-int8",
        delegates=["XnnpackBackend"],
        operators=["aten::mean.out"],
        coverage=0.98,
        planned_bytes=4064,
        quality=quality,
        export_command="nearside-export classify some-model",
    )
    return Manifest(
        name="some-model",
        task="classify",
        licence="Apache-2.0",
        source="made up",
        labels=FileRef("labels.txt", 30, "2" * 64),
        image=ImageSpec(width=32, height=32, fit="letterbox", pad=(1, 2, 3)),
        output="logits",
        variants=[variant],
    )


def test_a_manifest_survives_writing_and_reading(manifest: Manifest) -> None:
    assert Manifest.from_json(manifest.to_json()) == manifest


def test_the_schema_is_a_valid_schema() -> None:
    Draft202012Validator.check_schema(SCHEMA)


def test_a_written_manifest_follows_the_published_schema(manifest: Manifest) -> None:
    VALIDATOR.validate(json.loads(manifest.to_json()))


@pytest.mark.parametrize("package", [EFFICIENTNET, TINY], ids=lambda p: p.name)
def test_the_committed_manifests_follow_the_published_schema(package: Path) -> None:
    VALIDATOR.validate(json.loads((package / "manifest.json").read_text(encoding="utf-8")))


@pytest.mark.parametrize(
    ("cls", "schema"),
    [
        (Manifest, SCHEMA),
        (ImageSpec, SCHEMA["$defs"]["image"]),
        (FileRef, SCHEMA["$defs"]["file"]),
        (Variant, SCHEMA["$defs"]["variant"]),
        (Quality, SCHEMA["$defs"]["quality"]),
    ],
    ids=lambda x: getattr(x, "__name__", ""),
)
def test_writer_and_schema_name_the_same_fields(cls: type, schema: dict[str, Any]) -> None:
    assert {f.name for f in dataclasses.fields(cls)} == set(schema["properties"])


@pytest.mark.parametrize(
    "path", ["../x.pte", "/x.pte", "a/../x.pte", "C:\\x.pte", "a\\x.pte", "..", ""]
)
def test_the_schema_refuses_paths_that_leave_the_package(manifest: Manifest, path: str) -> None:
    raw = json.loads(manifest.to_json())
    raw["variants"][0]["program"]["path"] = path
    with pytest.raises(ValidationError):
        VALIDATOR.validate(raw)


def test_every_missing_or_extra_field_is_refused(manifest: Manifest) -> None:
    whole = json.loads(manifest.to_json())
    for field in ("name", "labels", "image", "variants", "output"):
        raw = copy.deepcopy(whole)
        del raw[field]
        with pytest.raises(PackageError, match=field):
            Manifest.from_json(json.dumps(raw))
    whole["variants"][0]["speed"] = 1
    with pytest.raises(PackageError, match="speed"):
        Manifest.from_json(json.dumps(whole))
    with pytest.raises(ValidationError):
        VALIDATOR.validate(whole)


@pytest.mark.parametrize("text", ["", "[]", "{", '{"schema_version": 2}', "null"])
def test_something_else_than_a_manifest_is_a_package_error(text: str) -> None:
    with pytest.raises(PackageError):
        Manifest.from_json(text)


def test_an_unknown_variant_is_refused_with_those_that_exist(manifest: Manifest) -> None:
    with pytest.raises(PackageError, match="it has: xnnpack-int8"):
        manifest.variant("qnn-int8")
