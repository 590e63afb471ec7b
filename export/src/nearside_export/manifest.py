"""The model package's ``manifest.json``, schema version 1.

Dataclasses mirror the JSON one to one. The Rust reader refuses unknown fields, and the schema is
published as ``docs/manifest.schema.json``; change all three together.
"""

from __future__ import annotations

import dataclasses
import json
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from nearside_export.errors import PackageError
from nearside_export.image_spec import ImageSpec

SCHEMA_VERSION = 1
FILE_NAME = "manifest.json"


@dataclass(frozen=True)
class FileRef:
    """A file of the package: path relative to the manifest, size in bytes, sha256 in hex."""

    path: str
    bytes: int
    sha256: str


@dataclass(frozen=True)
class Gate:
    """The lowest quality with which an export succeeds."""

    top1_agreement: float


@dataclass(frozen=True)
class Quality:
    """How the ``.pte`` as run by ExecuTorch compares with eager fp32 PyTorch.

    ``images`` evaluation pictures; ``top1_agreement`` share of them with the same best class,
    0..1; ``logit_rmse`` root mean square of the logit differences over all pictures and classes;
    ``logit_sqnr_db`` = 10 log10(mean square of fp32 logits / mean square of differences).
    """

    images: int
    top1_agreement: float
    logit_rmse: float
    logit_sqnr_db: float
    gate: Gate


@dataclass(frozen=True)
class Variant:
    """One exported program of the model, with what it needs and how good it is.

    ``operators`` are those left on portable kernels, as ``namespace::name.overload``, sorted.
    ``coverage`` is the share of operator calls inside delegates (see :mod:`.lower.coverage`).
    ``planned_bytes`` is the sum of the memory-planned arenas of ``method``.
    """

    name: str
    program: FileRef
    method: str
    executorch: str
    torch: str
    torchao: str
    quantisation: str
    delegates: list[str]
    operators: list[str]
    coverage: float
    planned_bytes: int
    quality: Quality
    export_command: str
    external_data: list[FileRef] = field(default_factory=list)


@dataclass(frozen=True)
class Manifest:
    """A whole ``manifest.json``."""

    name: str
    task: str
    licence: str
    source: str
    labels: FileRef
    image: ImageSpec
    output: str
    variants: list[Variant]
    schema_version: int = SCHEMA_VERSION

    def variant(self, name: str) -> Variant:
        """Return the variant called ``name``; `PackageError` names those that exist."""
        for variant in self.variants:
            if variant.name == name:
                return variant
        known = ", ".join(v.name for v in self.variants)
        raise PackageError(f"{self.name} has no variant {name!r}; it has: {known}")

    def to_json(self) -> str:
        """Serialise with the schema's field order, two-space indentation and a last newline."""
        fields = dataclasses.asdict(self)
        ordered = {"schema_version": fields.pop("schema_version"), **fields}
        for variant in ordered["variants"]:
            _move_after(variant, "external_data", "program")
        return json.dumps(ordered, indent=2, ensure_ascii=False) + "\n"

    @classmethod
    def from_json(cls, text: str) -> Manifest:
        """Parse a manifest; `PackageError` says which field is missing, unknown or mistyped."""
        try:
            raw = json.loads(text)
        except json.JSONDecodeError as error:
            raise PackageError(f"{FILE_NAME} is not JSON: {error}") from error
        if not isinstance(raw, dict):
            raise PackageError(f"{FILE_NAME} must hold a JSON object")
        if raw.get("schema_version") != SCHEMA_VERSION:
            raise PackageError(
                f"{FILE_NAME} has schema_version {raw.get('schema_version')!r}, "
                f"this exporter reads {SCHEMA_VERSION}"
            )
        try:
            raw["labels"] = FileRef(**raw["labels"])
            raw["image"] = ImageSpec.from_dict(raw["image"])
            raw["variants"] = [_variant_from_dict(v) for v in raw["variants"]]
            return cls(**raw)
        except (KeyError, TypeError, ValueError, AttributeError) as error:
            raise PackageError(f"{FILE_NAME} does not follow the schema: {error}") from error

    @classmethod
    def read(cls, package: Path) -> Manifest:
        """Read ``package/manifest.json``."""
        path = package / FILE_NAME
        try:
            text = path.read_text(encoding="utf-8")
        except (OSError, UnicodeDecodeError) as error:
            raise PackageError(f"cannot read {path}: {error}") from error
        return cls.from_json(text)


def _variant_from_dict(raw: dict[str, Any]) -> Variant:
    raw = dict(raw)
    raw["program"] = FileRef(**raw["program"])
    raw["external_data"] = [FileRef(**f) for f in raw["external_data"]]
    quality = dict(raw["quality"])
    quality["gate"] = Gate(**quality["gate"])
    raw["quality"] = Quality(**quality)
    return Variant(**raw)


def _move_after(mapping: dict[str, Any], key: str, anchor: str) -> None:
    """Reorder ``mapping`` in place so that ``key`` comes right after ``anchor``."""
    value = mapping.pop(key)
    items = list(mapping.items())
    mapping.clear()
    for name, item in items:
        mapping[name] = item
        if name == anchor:
            mapping[key] = value
