"""The calibration and evaluation sets: fixed seeds, the same pictures every time."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from PIL import Image

from nearside_export.data import sources
from nearside_export.data.crops import random_crop

CALIBRATION_SEED = 20260
EVALUATION_SEED = 20261
_CALIBRATION_CROPS = 8
_EVALUATION_CROPS = 16
_CALIBRATION_FRAME_STEP = 6
_EVALUATION_FRAME_STEP = 8


def calibration() -> Iterator[Image.Image]:
    """About 130 RGB pictures: every photo whole and in crops, and a crop of each clip frame."""
    rng = np.random.default_rng(CALIBRATION_SEED)
    return _pictures(
        rng,
        sources.CALIBRATION_PHOTOS,
        sources.CALIBRATION_CLIPS,
        _CALIBRATION_CROPS,
        _CALIBRATION_FRAME_STEP,
    )


def evaluation() -> Iterator[Image.Image]:
    """About 130 RGB pictures from sources that calibration never sees."""
    rng = np.random.default_rng(EVALUATION_SEED)
    return _pictures(
        rng,
        sources.EVALUATION_PHOTOS,
        sources.EVALUATION_CLIPS,
        _EVALUATION_CROPS,
        _EVALUATION_FRAME_STEP,
    )


def _pictures(
    rng: np.random.Generator,
    photos: tuple[tuple[str, str], ...],
    clips: tuple[tuple[str, str], ...],
    crops: int,
    frame_step: int,
) -> Iterator[Image.Image]:
    for package, name in photos:
        picture = sources.photo(package, name)
        yield picture
        for _ in range(crops):
            yield random_crop(picture, rng)
    for package, name in clips:
        for frame in sources.clip_frames(package, name, frame_step):
            yield random_crop(frame, rng)
