"""Colour conversion and resizing in double precision, by their definitions."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

Bytes = NDArray[np.uint8]
Doubles = NDArray[np.float64]
Integers = NDArray[np.integer]

# Kr and Kb: ITU-R BT.601-7 section 2.5.1, BT.709-6 section 3.2, BT.2020-2 table 4.
WEIGHTS = {"bt601": (0.299, 0.114), "bt709": (0.2126, 0.0722), "bt2020": (0.2627, 0.0593)}


@dataclass(frozen=True)
class Colour:
    """How YUV stands for RGB."""

    matrix: str = "bt601"
    range: str = "limited"
    siting: str = "center"
    bits: int = 8

    def from_rgb(self) -> Doubles:
        """Return the matrix from R, G, B on 0..1 to Y on 0..1 and U, V on -0.5..0.5."""
        kr, kb = WEIGHTS[self.matrix]
        luma = np.array([kr, 1 - kr - kb, kb])
        blue = (np.array([0, 0, 1]) - luma) / (2 * (1 - kb))
        red = (np.array([1, 0, 0]) - luma) / (2 * (1 - kr))
        return np.stack([luma, blue, red])

    def codes(self) -> tuple[Doubles, Doubles]:
        """Return scale and offset of the code values of Y, U, V."""
        unit = float(2 ** (self.bits - 8))
        if self.range == "limited":
            return np.array([219.0, 224.0, 224.0]) * unit, np.array([16.0, 128.0, 128.0]) * unit
        top = float(2**self.bits - 1)
        return np.array([top] * 3), np.array([0.0, 128.0 * unit, 128.0 * unit])


def to_planes(rgb: Bytes, colour: Colour) -> list[Integers]:
    """Make planes Y, U, V at 4:2:0; chroma is the mean of the pixels around its site."""
    scale, offset = colour.codes()
    yuv = rgb / 255.0 @ colour.from_rgb().T * scale + offset
    height, width = rgb.shape[:2]
    even = np.pad(yuv, ((0, height % 2), (0, width % 2), (0, 0)), mode="edge")
    if colour.siting == "left":
        before = np.pad(even, ((0, 0), (1, 0), (0, 0)), mode="edge")[:, :-1]
        wide = (before[:, 0::2] + 2 * even[:, 0::2] + even[:, 1::2]) / 4
    else:
        wide = (even[:, 0::2] + even[:, 1::2]) / 2
    chroma = (wide[0::2] + wide[1::2]) / 2
    dtype = np.uint8 if colour.bits == 8 else np.uint16

    def code(values: Doubles) -> Integers:
        return np.clip(np.round(values), 0, 2**colour.bits - 1).astype(dtype)

    return [code(yuv[..., 0]), code(chroma[..., 1]), code(chroma[..., 2])]


def upsample(plane: Doubles, length: int, axis: int, siting: str = "center") -> Doubles:
    """Double an axis: sample k lies midway between 2k and 2k + 1, or on 2k if sited left."""
    moved = np.moveaxis(plane, axis, 0)
    shift = 0.5 if siting == "center" else 0.0
    at = np.clip((np.arange(length) - shift) / 2, 0, moved.shape[0] - 1)
    low = np.floor(at).astype(int)
    high = np.minimum(low + 1, moved.shape[0] - 1)
    share = (at - low).reshape(-1, *[1] * (moved.ndim - 1))
    return np.moveaxis(moved[low] * (1 - share) + moved[high] * share, 0, axis)


def to_rgb(planes: list[Integers], colour: Colour) -> Doubles:
    """Convert to RGB on 0..255 at full resolution, not clamped."""
    height, width = planes[0].shape
    full = [planes[0].astype(float)]
    for plane in planes[1:]:
        wide = upsample(plane.astype(float), width, 1, colour.siting)
        full.append(upsample(wide, height, 0))
    scale, offset = colour.codes()
    yuv = (np.stack(full, axis=2) - offset) / scale
    return yuv @ np.linalg.inv(colour.from_rgb()).T * 255


def cubic(at: Doubles) -> Doubles:
    """Return Pillow's cubic, a = -0.5."""
    x, a = np.abs(at), -0.5
    inner = ((a + 2) * x - (a + 3)) * x * x + 1
    outer = (((x - 5) * x + 8) * x - 4) * a
    return np.where(x < 1, inner, np.where(x < 2, outer, 0))


def weights(source: int, out: int, filter_: str, enlarges: bool) -> Doubles:
    """Return the weights of all source samples for all outputs; `enlarges`: either axis does."""
    scale = source / out
    center = (np.arange(out) + 0.5) * scale
    if filter_ == "bilinear":
        distance = np.arange(source) + 0.5 - np.clip(center, 0.5, source - 0.5)[:, None]
        return np.maximum(0, 1 - np.abs(distance))
    if filter_ == "area" and enlarges:
        # OpenCV then takes two samples along both axes (`imgproc/src/resize.cpp`).
        inverse = out / source
        first = np.floor(np.arange(out) * (1 / inverse)).astype(int)
        share = np.arange(1, out + 1) - (first + 1) * inverse
        share = np.where(share <= 0, 0, share - np.floor(share))
        share[first >= source - 1] = 0
        matrix = np.zeros((out, source))
        matrix[np.arange(out), np.minimum(first, source - 1)] += 1 - share
        matrix[np.arange(out), np.minimum(first + 1, source - 1)] += share
        return matrix
    if filter_ == "area":
        start, end = np.arange(out)[:, None] * scale, np.arange(1, out + 1)[:, None] * scale
        cells = np.arange(source)
        cover = np.clip(np.minimum(end, cells + 1) - np.maximum(start, cells), 0, None)
        return cover / cover.sum(axis=1, keepdims=True)
    distance = (np.arange(source) + 0.5 - center[:, None]) / max(scale, 1)
    matrix = cubic(distance) if filter_ == "bicubic" else np.maximum(0, 1 - np.abs(distance))
    return matrix / matrix.sum(axis=1, keepdims=True)


def resize(rgb: Doubles, size: tuple[int, int], filter_: str) -> Doubles:
    """Resize; nothing is rounded or clamped."""
    height, width = rgb.shape[:2]
    enlarges = size[0] > width or size[1] > height
    horizontal = weights(width, size[0], filter_, enlarges)
    vertical = weights(height, size[1], filter_, enlarges)
    rows = np.tensordot(vertical, rgb, axes=(1, 0))
    return np.tensordot(rows, horizontal, axes=(1, 1)).transpose(0, 2, 1)
