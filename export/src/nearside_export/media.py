"""Demo media: two photos and a short clip, made from CC0 pictures of scikit-image."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray
from PIL import Image

from nearside_export import y4m
from nearside_export.data.sources import photo
from nearside_export.package import staged_files

WIDTH, HEIGHT, FPS = 320, 240, 30
PHOTOS = ("coffee", "chelsea")
_JPEG_QUALITY = 92


@dataclass(frozen=True)
class View:
    """What a virtual camera sees: centre and width as shares of the photo's width and height."""

    x: float
    y: float
    width: float


@dataclass(frozen=True)
class Shot:
    """A camera move over one photo, ``frames`` long, from ``start`` to ``stop``."""

    name: str
    frames: int
    start: View
    stop: View


SHOTS = (
    Shot("coffee.png", 17, View(0.50, 0.50, 0.80), View(0.56, 0.52, 0.62)),
    Shot("chelsea.png", 17, View(0.42, 0.52, 0.66), View(0.52, 0.48, 0.82)),
    Shot("rocket.jpg", 17, View(0.50, 0.55, 0.72), View(0.50, 0.45, 0.60)),
)
"""51 frames, 1.7 s: an espresso, a cat, a rocket."""


def export(out: Path) -> None:
    """Write the photos as JPEG and ``clip.y4m`` into ``out``."""
    with staged_files(out) as folder:
        for name in PHOTOS:
            picture = photo("skimage.data", f"{name}.png")
            picture.save(folder / f"{name}.jpg", quality=_JPEG_QUALITY, optimize=True)
        y4m.write(folder / "clip.y4m", frames(), FPS)


def frames() -> Iterator[NDArray[np.uint8]]:
    """Render all shots: RGB u8 ``[HEIGHT, WIDTH, 3]`` each, with sub-pixel smooth motion."""
    for shot in SHOTS:
        picture = photo("skimage.data", shot.name)
        for index in range(shot.frames):
            t = index / (shot.frames - 1)
            # Smoothstep: the camera starts and stops gently.
            yield _render(picture, shot, t * t * (3.0 - 2.0 * t))


def _render(picture: Image.Image, shot: Shot, t: float) -> NDArray[np.uint8]:
    a, b = shot.start, shot.stop
    width = picture.width * (a.width + (b.width - a.width) * t)
    height = width * HEIGHT / WIDTH
    left = picture.width * (a.x + (b.x - a.x) * t) - width / 2.0
    top = picture.height * (a.y + (b.y - a.y) * t) - height / 2.0
    # The view stays inside the picture.
    left = min(max(left, 0.0), picture.width - width)
    top = min(max(top, 0.0), picture.height - height)
    box = (left, top, left + width, top + height)
    view = picture.resize((WIDTH, HEIGHT), Image.Resampling.BICUBIC, box=box)
    return np.asarray(view, dtype=np.uint8)
