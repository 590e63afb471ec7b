"""Tiny models with seeded random weights, as Hugging Face folders.

For tests, and for whoever wants to see what an export does without fetching a model: the answers
are noise, but every part of the architecture counts in them. The same command writes the same
files, byte for byte.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from nearside_export.errors import UsageError
from nearside_export.package import staged_folder
from nearside_export.recipes import tiny_decoder, tiny_gemma3_vision, tiny_gemma3n

FAMILIES: dict[str, Callable[[Path], None]] = {
    "llama": tiny_decoder.llama,
    "qwen3": tiny_decoder.qwen3,
    "gemma3-text": tiny_decoder.gemma3_text,
    "gemma3-vision": tiny_gemma3_vision.write,
    "gemma3n": tiny_gemma3n.write,
}


def write(family: str, folder: Path) -> None:
    """Write the tiny model of ``family`` as ``folder``, which must not exist or be empty."""
    if family not in FAMILIES:
        raise UsageError(f"unknown family {family!r}; known: {', '.join(FAMILIES)}")
    if folder.exists() and (not folder.is_dir() or any(folder.iterdir())):
        raise UsageError(f"{folder} exists already: choose another folder with --out")
    with staged_folder(folder) as staging:
        FAMILIES[family](staging)
