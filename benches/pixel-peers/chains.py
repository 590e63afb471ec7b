"""The same work by OpenCV and Pillow: each function makes one that runs again and again.

All of them write into memory of their own that is allocated once, as a careful caller would. Where
there is more than one way, all are tried and the fastest counts.
"""

import io
from collections.abc import Callable
from dataclasses import dataclass

import cv2
import numpy as np
from numpy.typing import NDArray
from PIL import Image

Bytes = NDArray[np.uint8]
Floats = NDArray[np.float32]

MEAN = (0.485, 0.456, 0.406)
STD = (0.229, 0.224, 0.225)

LINEAR, AREA = cv2.INTER_LINEAR, cv2.INTER_AREA


@dataclass
class Chain:
    """A chain by name: `run` does it once, and what comes out is in `out`."""

    name: str
    run: Callable[[], None]
    out: NDArray[np.generic]


Normaliser = Callable[[Bytes, Floats], None]


def normalise_tables() -> Normaliser:
    """Split into planes, then look each up in a table of floats: OpenCV's fastest way."""
    values = (np.arange(256)[:, None] / 255 - np.array(MEAN)) / np.array(STD)
    tables = [np.ascontiguousarray(values[:, at].astype(np.float32)) for at in range(3)]
    planes: list[Bytes] = []

    def run(pixels: Bytes, out: Floats) -> None:
        if not planes:
            planes.extend(np.empty(pixels.shape[:2], np.uint8) for _ in range(pixels.shape[2]))
        cv2.split(pixels, planes)
        for at in range(3):
            cv2.LUT(planes[at], tables[at], out[at])

    return run


def normalise_blob() -> Normaliser:
    """cv2.dnn.blobFromImage, then the division, which it can't do per channel."""
    mean = [value * 255 for value in MEAN]

    def run(pixels: Bytes, out: Floats) -> None:
        size = pixels.shape[1], pixels.shape[0]
        blob = cv2.dnn.blobFromImage(pixels, 1 / 255, size, mean, swapRB=False)
        for at in range(3):
            cv2.multiply(blob[0, at], 1 / STD[at], out[at])

    return run


def normalise_numpy() -> Normaliser:
    """Arithmetic and a transposed copy by numpy."""
    mean = np.array(MEAN, np.float32) * 255
    factor = 1 / (255 * np.array(STD, np.float32))

    def run(pixels: Bytes, out: Floats) -> None:
        floats = pixels[..., :3].astype(np.float32)
        floats -= mean
        floats *= factor
        np.copyto(out, floats.transpose(2, 0, 1))

    return run


NORMALISERS = {
    "split + LUT": normalise_tables,
    "blobFromImage": normalise_blob,
    "numpy": normalise_numpy,
}


def nv12_to_tensor(
    frame: Bytes, size: tuple[int, int], out: tuple[int, int], interpolation: int
) -> list[Chain]:
    """Convert NV12, resize, normalise."""
    stacked = frame.reshape(size[1] * 3 // 2, size[0])
    chains = []
    for name, normaliser in NORMALISERS.items():
        full = np.empty((size[1], size[0], 3), np.uint8)
        small = np.empty((out[1], out[0], 3), np.uint8)
        tensor = np.empty((3, out[1], out[0]), np.float32)
        run = convert_first(stacked, full, small, tensor, normaliser(), interpolation)
        chains.append(Chain(name, run, tensor))
    return chains


def convert_first(
    stacked: Bytes,
    full: Bytes,
    small: Bytes,
    tensor: Floats,
    normalise: Normaliser,
    interpolation: int,
) -> Callable[[], None]:
    """Make the chain of cvtColor, resize and a normaliser."""
    size = small.shape[1], small.shape[0]

    def run() -> None:
        cv2.cvtColor(stacked, cv2.COLOR_YUV2RGB_NV12, full)
        cv2.resize(full, size, small, interpolation=interpolation)
        normalise(small, tensor)

    return run


def nv12_planes_first(
    frame: Bytes, size: tuple[int, int], out: tuple[int, int], interpolation: int
) -> Chain:
    """Resize Y and UV, then convert: quicker, but chroma has half the resolution of the result."""
    width, height = size
    luma = frame[: width * height].reshape(height, width)
    chroma = frame[width * height :].reshape(height // 2, width // 2, 2)
    half = out[0] // 2, out[1] // 2
    small_luma = np.empty((out[1], out[0]), np.uint8)
    small_chroma = np.empty((half[1], half[0], 2), np.uint8)
    small = np.empty((out[1], out[0], 3), np.uint8)
    tensor = np.empty((3, out[1], out[0]), np.float32)
    normalise = normalise_tables()

    def run() -> None:
        cv2.resize(luma, out, small_luma, interpolation=interpolation)
        cv2.resize(chroma, half, small_chroma, interpolation=interpolation)
        cv2.cvtColorTwoPlane(small_luma, small_chroma, cv2.COLOR_YUV2RGB_NV12, small)
        normalise(small, tensor)

    return Chain("planes first", run, tensor)


def nv12_letterbox(frame: Bytes, size: tuple[int, int], side: int) -> list[Chain]:
    """Convert NV12, shrink by area to fit a square, add bars, normalise."""
    stacked = frame.reshape(size[1] * 3 // 2, size[0])
    scale = min(side / size[0], side / size[1])
    inner = round(size[0] * scale), round(size[1] * scale)
    left, top = (side - inner[0]) // 2, (side - inner[1]) // 2
    right, bottom = side - inner[0] - left, side - inner[1] - top
    chains = []
    for name, normaliser in NORMALISERS.items():
        full = np.empty((size[1], size[0], 3), np.uint8)
        small = np.empty((inner[1], inner[0], 3), np.uint8)
        boxed = np.empty((side, side, 3), np.uint8)
        tensor = np.empty((3, side, side), np.float32)

        normalise = normaliser()

        def run(
            normalise: Normaliser = normalise,
            full: Bytes = full,
            small: Bytes = small,
            boxed: Bytes = boxed,
            tensor: Floats = tensor,
        ) -> None:
            cv2.cvtColor(stacked, cv2.COLOR_YUV2RGB_NV12, full)
            cv2.resize(full, inner, small, interpolation=AREA)
            grey = (114, 114, 114)
            cv2.copyMakeBorder(
                small, top, bottom, left, right, cv2.BORDER_CONSTANT, boxed, value=grey
            )
            normalise(boxed, tensor)

        chains.append(Chain(name, run, tensor))
    return chains


def i420_turned(frame: Bytes, size: tuple[int, int], out: tuple[int, int]) -> list[Chain]:
    """Convert I420, rotate and flip, resize, normalise; turned before or after the resizing."""
    stacked = frame.reshape(size[1] * 3 // 2, size[0])
    chains = []
    for name, late in (("turned first", False), ("turned last", True)):
        full = np.empty((size[1], size[0], 3), np.uint8)
        tensor = np.empty((3, out[1], out[0]), np.float32)

        normalise = normalise_tables()

        def run(
            normalise: Normaliser = normalise,
            full: Bytes = full,
            tensor: Floats = tensor,
            late: bool = late,
        ) -> None:
            cv2.cvtColor(stacked, cv2.COLOR_YUV2RGB_I420, full)
            if late:
                small = cv2.resize(full, (out[1], out[0]), interpolation=LINEAR)
                # A quarter turn clockwise and a mirror are a transposition and a turn of half.
                small = cv2.flip(cv2.rotate(small, cv2.ROTATE_90_CLOCKWISE), 1)
            else:
                turned = cv2.flip(cv2.rotate(full, cv2.ROTATE_90_CLOCKWISE), 1)
                small = cv2.resize(turned, out, interpolation=LINEAR)
            normalise(small, tensor)

        chains.append(Chain(name, run, tensor))
    return chains


def pixels_to_tensor(pixels: Bytes, out: tuple[int, int], interpolation: int) -> list[Chain]:
    """Resize RGB or BGRA, normalise. BGRA's channels are put in order after the resizing."""
    swap = pixels.shape[2] == 4
    chains = []
    for name, normaliser in NORMALISERS.items():
        small = np.empty((out[1], out[0], pixels.shape[2]), np.uint8)
        rgb = np.empty((out[1], out[0], 3), np.uint8)
        tensor = np.empty((3, out[1], out[0]), np.float32)

        normalise = normaliser()

        def run(
            normalise: Normaliser = normalise,
            small: Bytes = small,
            rgb: Bytes = rgb,
            tensor: Floats = tensor,
        ) -> None:
            cv2.resize(pixels, out, small, interpolation=interpolation)
            if swap:
                cv2.cvtColor(small, cv2.COLOR_BGRA2RGB, rgb)
            normalise(rgb if swap else small, tensor)

        chains.append(Chain(name, run, tensor))
    return chains


def pillow_to_tensor(pixels: Bytes, out: tuple[int, int], filter_: Image.Resampling) -> Chain:
    """Resize RGB by Pillow, normalise."""
    image = Image.fromarray(pixels)
    tensor = np.empty((3, out[1], out[0]), np.float32)
    normalise = normalise_tables()

    def run() -> None:
        normalise(np.asarray(image.resize(out, filter_)), tensor)

    return Chain("Pillow", run, tensor)


def nv12_to_rgba(frame: Bytes, size: tuple[int, int]) -> Chain:
    """Convert NV12 at full size."""
    stacked = frame.reshape(size[1] * 3 // 2, size[0])
    full = np.empty((size[1], size[0], 4), np.uint8)

    def run() -> None:
        cv2.cvtColor(stacked, cv2.COLOR_YUV2RGBA_NV12, full)

    return Chain("cvtColor", run, full)


def jpeg_by_pillow(file: Bytes, out: tuple[int, int], interpolation: int) -> Chain:
    """Decode a JPEG by Pillow's libjpeg-turbo, as small as is enough; resize, normalise."""
    tensor = np.empty((3, out[1], out[0]), np.float32)
    normalise = normalise_tables()
    small = np.empty((out[1], out[0], 3), np.uint8)
    contents = file.tobytes()

    def run() -> None:
        image = Image.open(io.BytesIO(contents))
        image.draft("RGB", out)
        cv2.resize(np.asarray(image), out, small, interpolation=interpolation)
        normalise(small, tensor)

    return Chain("Image.draft", run, tensor)


def jpeg_to_tensor(file: Bytes, out: tuple[int, int], interpolation: int) -> Chain:
    """Decode a JPEG at a quarter of its size, resize, normalise."""
    tensor = np.empty((3, out[1], out[0]), np.float32)
    normalise = normalise_tables()
    small = np.empty((out[1], out[0], 3), np.uint8)

    def run() -> None:
        bgr = cv2.imdecode(file, cv2.IMREAD_REDUCED_COLOR_4)
        cv2.resize(bgr, out, small, interpolation=interpolation)
        cv2.cvtColor(small, cv2.COLOR_BGR2RGB, small)
        normalise(small, tensor)

    return Chain("IMREAD_REDUCED_COLOR_4", run, tensor)
