"""Shared paths and pictures."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

# Before torch is imported: tiny models take longer on more threads.
os.environ.setdefault("OMP_NUM_THREADS", "1")

import numpy as np
import pytest
from PIL import Image

from nearside_export.errors import ExportError
from nearside_export.resume import folder
from nearside_export.runtime import nearside

ROOT = Path(__file__).resolve().parents[2]
MODELS = ROOT / "models"
EFFICIENTNET = MODELS / "efficientnet-lite0.nearside"
TINY = MODELS / "fixtures" / "tiny-classifier.nearside"
VARIANTS = MODELS / "fixtures" / "tiny-variants.nearside"


@pytest.fixture(scope="session", autouse=True)
def _kept_work_stays_here(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    """Keep tests out of the user's cache folder."""
    place = tmp_path_factory.mktemp("work")
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(folder, "default", lambda: place)
        yield


@pytest.fixture
def picture() -> Image.Image:
    """97x61 RGB: gradients and noise, so that any shift or swap shows."""
    rng = np.random.default_rng(7)
    y, x = np.mgrid[0:61, 0:97]
    smooth = np.stack([x * 2.5, y * 4.0, 255 - x - y], axis=-1)
    noisy = smooth + rng.normal(0.0, 12.0, smooth.shape)
    return Image.fromarray(np.clip(noisy, 0, 255).astype(np.uint8))


@pytest.fixture(scope="session")
def nearside_cli() -> Path:
    """Find the ``nearside`` command: ``cargo xtask test`` builds it and says where it is."""
    try:
        return nearside.command()
    except ExportError as error:
        pytest.skip(str(error))
