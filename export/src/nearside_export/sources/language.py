"""A language model's source from what the command line names: a folder or a GGUF file."""

from __future__ import annotations

from pathlib import Path

from nearside_export.sources import gguf, huggingface
from nearside_export.sources.model import ModelSource


def open_source(path: Path) -> ModelSource:
    """Open a Hugging Face folder or a GGUF file; `SourceError` says what is wrong with it."""
    if path.suffix == ".gguf" or (path.is_file() and gguf.looks_like(path)):
        return gguf.open_file(path)
    return huggingface.open_folder(path)
