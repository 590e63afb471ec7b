"""A whole ``manifest.json``."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import MISSING, dataclass, fields
from pathlib import Path
from typing import Any, NoReturn

from nearside_export.errors import PackageError
from nearside_export.manifest import reading
from nearside_export.manifest.files import FileRef
from nearside_export.manifest.quality import QUALITIES
from nearside_export.manifest.tasks import TASKS, Task
from nearside_export.manifest.variant import Variant

SCHEMA_VERSION = 1
FILE_NAME = "manifest.json"

_COMMON = ("schema_version", "name", "task", "licence", "source", "variants")


@dataclass(frozen=True)
class Manifest:
    """Name, licence and origin of a model, what its task needs to know, and its variants.

    In JSON ``task`` is the task's name, and the fields of `Task` stand beside it.
    """

    name: str
    licence: str
    source: str
    task: Task
    variants: list[Variant]

    def __post_init__(self) -> None:
        quality = QUALITIES[self.task.NAME]
        if not self.variants:
            raise PackageError(f"{self.name} has no variants")
        names = [v.name for v in self.variants]
        if twice := [n for n in names if names.count(n) > 1]:
            raise PackageError(f"{self.name} has the variant {twice[0]!r} twice")
        for variant in self.variants:
            if not isinstance(variant.quality, quality | None):
                raise PackageError(
                    f"the quality of {variant.name} is a {type(variant.quality).__name__}, "
                    f"task {self.task.NAME} has {quality.__name__}"
                )

    def variant(self, name: str) -> Variant:
        """Return the variant called ``name``; `PackageError` names those that exist."""
        for variant in self.variants:
            if variant.name == name:
                return variant
        known = ", ".join(v.name for v in self.variants)
        raise PackageError(f"{self.name} has no variant {name!r}; it has: {known}")

    def files(self) -> Iterator[FileRef]:
        """Give every file that the manifest names, each path once."""
        named = [*self.task.files(), *(f for v in self.variants for f in v.files())]
        yield from {ref.path: ref for ref in named}.values()

    def to_json(self) -> str:
        """Serialise with the schema's field order, two-space indentation and a last newline."""
        ordered = {
            "schema_version": SCHEMA_VERSION,
            "name": self.name,
            "task": self.task.NAME,
            "licence": self.licence,
            "source": self.source,
            **reading.write(self.task),
            "variants": [_variant_to_dict(v) for v in self.variants],
        }
        return json.dumps(ordered, indent=2, ensure_ascii=False, allow_nan=False) + "\n"

    @classmethod
    def from_json(cls, text: str) -> Manifest:
        """Parse a manifest; `PackageError` says which field is missing, unknown or mistyped."""
        try:
            raw = json.loads(text, parse_constant=_not_json)
        except (ValueError, RecursionError) as error:
            raise PackageError(f"{FILE_NAME} is not JSON: {error}") from error
        if not isinstance(raw, dict):
            raise PackageError(f"{FILE_NAME} must hold a JSON object")
        if raw.get("schema_version") != SCHEMA_VERSION:
            raise PackageError(
                f"{FILE_NAME} has schema_version {raw.get('schema_version')!r}, "
                f"this exporter reads {SCHEMA_VERSION}"
            )
        return _from_dict(raw)

    @classmethod
    def read(cls, package: Path) -> Manifest:
        """Read ``package/manifest.json``."""
        path = package / FILE_NAME
        try:
            text = path.read_text(encoding="utf-8")
        except (OSError, UnicodeDecodeError) as error:
            raise PackageError(f"cannot read {path}: {error}") from error
        return cls.from_json(text)


@dataclass(frozen=True)
class _Common:
    """The fields that manifests of all tasks have."""

    schema_version: int
    name: str
    task: str
    licence: str
    source: str
    variants: list[Any]


def _from_dict(raw: dict[str, Any]) -> Manifest:
    of_tasks = {f.name for task in TASKS.values() for f in fields(task)}
    common = reading.read(_Common, {k: v for k, v in raw.items() if k not in of_tasks}, "")
    kind = TASKS.get(common.task)
    if kind is None:
        raise PackageError(
            f"{FILE_NAME} has the task {common.task!r}; known: {', '.join(sorted(TASKS))}"
        )
    own = {k: v for k, v in raw.items() if k in of_tasks}
    _check_fields(kind, own)
    task = reading.read(kind, own, "")
    overrides = {"quality": QUALITIES[kind.NAME] | None}
    variants = [
        reading.read(Variant, v, f"variants[{i}]", overrides) for i, v in enumerate(common.variants)
    ]
    return Manifest(common.name, common.licence, common.source, task, variants)


def _check_fields(kind: type[Task], own: dict[str, Any]) -> None:
    """Name the task in what is said of a field that it lacks or can't have."""
    known = [f.name for f in fields(kind)]
    if strange := [name for name in own if name not in known]:
        raise PackageError(
            f"{FILE_NAME} has the field {strange[0]!r}, which task {kind.NAME} does not have; "
            f"its own are: {', '.join(known)}"
        )
    needed = [f.name for f in fields(kind) if f.default is MISSING]
    if missing := [name for name in needed if name not in own]:
        raise PackageError(f"{FILE_NAME} has no field {missing[0]!r}, which task {kind.NAME} needs")


def _variant_to_dict(variant: Variant) -> dict[str, Any]:
    """Put what says more of the quantisation right after it, and data files after the program."""
    raw = reading.write(variant)
    order = [
        "name", "program", "external_data", "method", "executorch", "torch", "torchao",
        "quantisation", "group_size", "rounding", "embedding_bits", "attention", "kv_cache",
        "delegates", "operators", "coverage", "planned_bytes", "methods", "quality", "unmeasured",
        "export_command",
    ]  # fmt: skip
    return {name: raw[name] for name in order if name in raw}


def _not_json(constant: str) -> NoReturn:
    raise ValueError(f"{constant} is not a JSON number")
