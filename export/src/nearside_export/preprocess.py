"""The preprocessing reference: a Pillow picture to the model's input tensor.

This is what the manifest's ``image`` object means, written with Pillow so that the Rust kernels
can be compared with it. ``nearest``, ``bilinear_antialias`` and ``bicubic_antialias`` are Pillow's
``NEAREST``, ``BILINEAR`` and ``BICUBIC`` (support scaled with the downscaling factor); ``bilinear``
samples two neighbours at half-pixel centres, as OpenCV's ``INTER_LINEAR`` does; ``area`` is its
``INTER_AREA``. Geometry follows timm and torchvision: see `placement`.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from PIL import Image

from nearside_export.image_spec import ImageSpec


@dataclass(frozen=True)
class Placement:
    """Geometry in pixels: the whole picture is resized to ``scaled``, of which a window is kept.

    ``window`` is the kept part's left and top in the scaled picture, ``size`` its width and
    height, ``dest`` where its left and top land in the tensor.
    """

    scaled: tuple[int, int]
    window: tuple[int, int]
    size: tuple[int, int]
    dest: tuple[int, int]


def preprocess(picture: Image.Image, spec: ImageSpec) -> NDArray[np.float32]:
    """Turn an upright picture into the model's input.

    Returns f32 ``[1, 3, height, width]`` or ``[1, height, width, 3]``, by ``spec.layout``.
    """
    pixels = fit_pixels(picture.convert("RGB"), spec)
    mean = np.asarray(spec.mean, dtype=np.float32)
    std = np.asarray(spec.std, dtype=np.float32)
    values = (pixels.astype(np.float32) / np.float32(255.0) - mean) / std
    if spec.channels == "bgr":
        values = values[:, :, ::-1]
    if spec.layout == "nchw":
        values = values.transpose(2, 0, 1)
    return np.ascontiguousarray(values[np.newaxis])


def fit_pixels(picture: Image.Image, spec: ImageSpec) -> NDArray[np.uint8]:
    """Fit an RGB picture to the spec's size: u8 ``[height, width, 3]``, rounded to 8 bits."""
    place = placement(picture.width, picture.height, spec)
    scaled = _resize(picture, place.scaled, spec.filter)
    (left, top), (width, height), (x, y) = place.window, place.size, place.dest
    out = np.empty((spec.height, spec.width, 3), dtype=np.uint8)
    out[:] = np.asarray(spec.pad, dtype=np.uint8)
    out[y : y + height, x : x + width] = scaled[top : top + height, left : left + width]
    return out


def placement(width: int, height: int, spec: ImageSpec) -> Placement:
    """Where a picture of ``width`` x ``height`` pixels goes, by ``spec.fit``.

    ``center_crop`` is timm's ``transforms_imagenet_eval``: the shorter side becomes
    ``floor(size / crop_fraction)``, then the centre is cut out. Halves round to even, as Python's
    ``round`` does.
    """
    out = (spec.width, spec.height)
    if spec.fit == "stretch":
        return Placement(scaled=out, window=(0, 0), size=out, dest=(0, 0))
    if spec.fit == "letterbox":
        scale = min(spec.width / width, spec.height / height)
        scaled = (
            min(max(round(width * scale), 1), spec.width),
            min(max(round(height * scale), 1), spec.height),
        )
        dest = ((spec.width - scaled[0]) // 2, (spec.height - scaled[1]) // 2)
        return Placement(scaled=scaled, window=(0, 0), size=scaled, dest=dest)
    scaled = _center_crop_scale(width, height, spec)
    window = (round((scaled[0] - spec.width) / 2), round((scaled[1] - spec.height) / 2))
    return Placement(scaled=scaled, window=window, size=out, dest=(0, 0))


def _center_crop_scale(width: int, height: int, spec: ImageSpec) -> tuple[int, int]:
    target = [math.floor(n / spec.crop_fraction * (1 + 1e-6)) for n in (spec.width, spec.height)]
    if spec.width == spec.height:
        # torchvision's Resize(n): the longer side is cut down to whole pixels.
        shorter = min(width, height)
        scaled = (target[0] * width // shorter, target[0] * height // shorter)
    else:
        # timm's ResizeKeepRatio.
        ratio = min(width / target[0], height / target[1])
        scaled = (round(width / ratio), round(height / ratio))
    return max(scaled[0], spec.width), max(scaled[1], spec.height)


PILLOW_FILTERS = {
    "nearest": Image.Resampling.NEAREST,
    "bilinear_antialias": Image.Resampling.BILINEAR,
    "bicubic_antialias": Image.Resampling.BICUBIC,
}


def _resize(picture: Image.Image, size: tuple[int, int], filter_name: str) -> NDArray[np.uint8]:
    if filter_name in PILLOW_FILTERS:
        return np.asarray(picture.resize(size, PILLOW_FILTERS[filter_name]), dtype=np.uint8)
    pixels = np.asarray(picture, dtype=np.uint8)
    if filter_name == "bilinear":
        taps = _taps
    elif size[0] <= picture.width and size[1] <= picture.height:
        return _area(pixels, size)
    else:
        taps = _flat_taps
    return _between_two(pixels, taps(pixels.shape[1], size[0]), taps(pixels.shape[0], size[1]))


def _area(pixels: NDArray[np.uint8], size: tuple[int, int]) -> NDArray[np.uint8]:
    """Mean over the area that an output pixel covers."""
    across, down = _shares(pixels.shape[1], size[0]), _shares(pixels.shape[0], size[1])
    means = np.einsum("yh,hwc,xw->yxc", down, pixels.astype(np.float64), across, optimize=True)
    return np.rint(means).astype(np.uint8)


def _shares(length: int, count: int) -> NDArray[np.float64]:
    """For each output, the share of each sample in its cell: [count, length]."""
    edges = np.arange(count + 1) * (length / count)
    samples = np.arange(length)
    overlap = np.minimum(edges[1:, np.newaxis], samples + 1.0) - np.maximum(
        edges[:-1, np.newaxis], samples
    )
    shares = np.maximum(overlap, 0.0)
    return shares / shares.sum(axis=1, keepdims=True)


Taps = tuple[NDArray[np.intp], NDArray[np.intp], NDArray[np.float64]]


def _between_two(pixels: NDArray[np.uint8], across: Taps, down: Taps) -> NDArray[np.uint8]:
    """Interpolate between two samples along each axis."""
    (x0, x1, fx), (y0, y1, fy) = across, down
    source = pixels.astype(np.float64)
    fx = fx[np.newaxis, :, np.newaxis]
    fy = fy[:, np.newaxis, np.newaxis]
    upper = source[y0][:, x0] * (1.0 - fx) + source[y0][:, x1] * fx
    lower = source[y1][:, x0] * (1.0 - fx) + source[y1][:, x1] * fx
    return np.floor(upper * (1.0 - fy) + lower * fy + 0.5).astype(np.uint8)


def _flat_taps(length: int, count: int) -> Taps:
    """As `_taps` where ``INTER_AREA`` enlarges: flat steps, with a slope from one to the next."""
    index = np.arange(count)
    first = np.floor(index * (length / count))
    weight = (index + 1) - (first + 1) * (count / length)
    weight = np.where(weight <= 0.0, 0.0, weight - np.floor(weight))
    first = first.astype(np.intp)
    return first, np.minimum(first + 1, length - 1), weight


def _taps(length: int, count: int) -> Taps:
    """Neighbour indices (both clamped to 0..length-1) and the weight of the second.

    Source = (x + 0.5) * scale - 0.5.
    """
    centre = (np.arange(count) + 0.5) * (length / count) - 0.5
    first = np.floor(centre).astype(np.intp)
    weight = centre - first
    return np.clip(first, 0, length - 1), np.clip(first + 1, 0, length - 1), weight
