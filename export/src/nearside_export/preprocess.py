"""The preprocessing reference: a Pillow picture to the model's input tensor.

This is what the manifest's ``image`` object means, written with Pillow so that the Rust kernels
can be compared with it. ``bilinear_antialias`` is Pillow's ``BILINEAR`` (support scaled with the
downscaling factor) over the real-valued source box; ``bilinear`` samples two neighbours at
half-pixel centres, as OpenCV's ``INTER_LINEAR`` does.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from PIL import Image

from nearside_export.image_spec import ImageSpec

Box = tuple[float, float, float, float]


def preprocess(picture: Image.Image, spec: ImageSpec) -> NDArray[np.float32]:
    """Turn an upright picture into the model's input.

    Returns f32 ``[1, 3, height, width]`` or ``[1, height, width, 3]``, by ``spec.layout``.
    """
    pixels = fit_pixels(picture.convert("RGB"), spec)
    mean = np.asarray(spec.mean, dtype=np.float32)
    std = np.asarray(spec.std, dtype=np.float32)
    values = (pixels.astype(np.float32) / np.float32(255.0) - mean) / std
    if spec.layout == "nchw":
        values = values.transpose(2, 0, 1)
    return np.ascontiguousarray(values[np.newaxis])


def fit_pixels(picture: Image.Image, spec: ImageSpec) -> NDArray[np.uint8]:
    """Fit an RGB picture to the spec's size: u8 ``[height, width, 3]``, rounded to 8 bits."""
    size = (spec.width, spec.height)
    if spec.fit == "stretch":
        whole = (0.0, 0.0, float(picture.width), float(picture.height))
        return _resize(picture, size, whole, spec.filter)
    if spec.fit == "center_crop":
        return _resize(picture, size, center_box(picture.width, picture.height, spec), spec.filter)
    return _letterbox(picture, spec)


def center_box(width: int, height: int, spec: ImageSpec) -> Box:
    """Source box (left, top, right, bottom; real pixels) of a centre crop of aspect W:H.

    The largest centred box of the spec's aspect ratio, scaled by ``crop_fraction``.
    """
    scale = min(width / spec.width, height / spec.height) * spec.crop_fraction
    box_width, box_height = spec.width * scale, spec.height * scale
    left, top = (width - box_width) / 2.0, (height - box_height) / 2.0
    return (left, top, left + box_width, top + box_height)


def _letterbox(picture: Image.Image, spec: ImageSpec) -> NDArray[np.uint8]:
    scale = min(spec.width / picture.width, spec.height / picture.height)
    # Half away from zero, as Rust's f64::round: Python's round() is half to even.
    width = max(1, min(spec.width, int(picture.width * scale + 0.5)))
    height = max(1, min(spec.height, int(picture.height * scale + 0.5)))
    left, top = (spec.width - width) // 2, (spec.height - height) // 2
    out = np.empty((spec.height, spec.width, 3), dtype=np.uint8)
    out[:] = np.asarray(spec.pad, dtype=np.uint8)
    whole = (0.0, 0.0, float(picture.width), float(picture.height))
    out[top : top + height, left : left + width] = _resize(
        picture, (width, height), whole, spec.filter
    )
    return out


def _resize(
    picture: Image.Image, size: tuple[int, int], box: Box, filter_name: str
) -> NDArray[np.uint8]:
    if filter_name == "bilinear_antialias":
        resized = picture.resize(size, Image.Resampling.BILINEAR, box=box)
        return np.asarray(resized, dtype=np.uint8)
    return _bilinear(np.asarray(picture, dtype=np.uint8), size, box)


def _bilinear(pixels: NDArray[np.uint8], size: tuple[int, int], box: Box) -> NDArray[np.uint8]:
    """Two-tap bilinear over ``box``: source = left + (x + 0.5) * scale - 0.5, edges clamped."""
    left, top, right, bottom = box
    x0, x1, fx = _taps(left, right, size[0], pixels.shape[1])
    y0, y1, fy = _taps(top, bottom, size[1], pixels.shape[0])
    source = pixels.astype(np.float64)
    fx = fx[np.newaxis, :, np.newaxis]
    fy = fy[:, np.newaxis, np.newaxis]
    upper = source[y0][:, x0] * (1.0 - fx) + source[y0][:, x1] * fx
    lower = source[y1][:, x0] * (1.0 - fx) + source[y1][:, x1] * fx
    return np.floor(upper * (1.0 - fy) + lower * fy + 0.5).astype(np.uint8)


def _taps(
    start: float, stop: float, count: int, length: int
) -> tuple[NDArray[np.intp], NDArray[np.intp], NDArray[np.float64]]:
    """Neighbour indices (both clamped to 0..length-1) and the weight of the second."""
    scale = (stop - start) / count
    centre = start + (np.arange(count) + 0.5) * scale - 0.5
    first = np.floor(centre).astype(np.intp)
    weight = centre - first
    return np.clip(first, 0, length - 1), np.clip(first + 1, 0, length - 1), weight
