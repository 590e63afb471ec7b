"""Random crops and flips that turn a few pictures into a set."""

from __future__ import annotations

import math

import numpy as np
from PIL import Image, ImageOps


def random_crop(
    picture: Image.Image, rng: np.random.Generator, min_area: float = 0.35
) -> Image.Image:
    """Crop a random box (area share ``min_area``..1, aspect 3:4..4:3), flipped half the time."""
    width, height = picture.size
    area = width * height * rng.uniform(min_area, 1.0)
    aspect = math.exp(rng.uniform(math.log(3 / 4), math.log(4 / 3)))
    crop_width = min(width, max(1, round(math.sqrt(area * aspect))))
    crop_height = min(height, max(1, round(math.sqrt(area / aspect))))
    left = int(rng.integers(0, width - crop_width + 1))
    top = int(rng.integers(0, height - crop_height + 1))
    crop = picture.crop((left, top, left + crop_width, top + crop_height))
    return ImageOps.mirror(crop) if rng.random() < 0.5 else crop
