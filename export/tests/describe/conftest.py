"""A tiny Gemma 3 with its eyes."""

from __future__ import annotations

from pathlib import Path

import pytest

from nearside_export.recipes import tiny_gemma3_vision


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("source") / "tiny-gemma3-vision"
    folder.mkdir()
    tiny_gemma3_vision.write(folder)
    return folder
