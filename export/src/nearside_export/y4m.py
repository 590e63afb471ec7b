"""YUV4MPEG2 files: uncompressed 4:2:0 video with one header line.

Format: ``YUV4MPEG2 W… H… F… Ip A1:1 C420jpeg`` and, per frame, ``FRAME`` and the planes Y, U, V
(mjpegtools, yuv4mpeg(5)). ``C420jpeg`` puts chroma samples in the middle of each 2x2 block.
"""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

import numpy as np
from numpy.typing import NDArray


def write(path: Path, frames: Iterable[NDArray[np.uint8]], fps: int) -> None:
    """Write RGB frames u8 ``[height, width, 3]`` of one even size as C420jpeg, BT.601 limited."""
    with path.open("wb") as stream:
        for index, frame in enumerate(frames):
            if index == 0:
                height, width, _ = frame.shape
                size = f"W{width} H{height} F{fps}:1"
                header = f"YUV4MPEG2 {size} Ip A1:1 C420jpeg XCOLORRANGE=LIMITED\n"
                stream.write(header.encode("ascii"))
            stream.write(b"FRAME\n")
            for plane in i420(frame):
                stream.write(plane.tobytes())


def i420(rgb: NDArray[np.uint8]) -> tuple[NDArray[np.uint8], ...]:
    """Convert RGB u8 ``[height, width, 3]`` (even sides) to planes Y, U, V of BT.601 limited.

    Coefficients from ITU-R BT.601-7: Kr 0.299, Kb 0.114; Y 16..235, U and V 16..240. Chroma is
    the mean of each 2x2 block.
    """
    r, g, b = (rgb[..., c].astype(np.float64) / 255.0 for c in range(3))
    luma = 0.299 * r + 0.587 * g + 0.114 * b
    y = 16.0 + 219.0 * luma
    u = 128.0 + 224.0 * _halve((b - luma) / 1.772)
    v = 128.0 + 224.0 * _halve((r - luma) / 1.402)
    return tuple(np.clip(np.floor(p + 0.5), 0, 255).astype(np.uint8) for p in (y, u, v))


def _halve(plane: NDArray[np.float64]) -> NDArray[np.float64]:
    height, width = plane.shape
    return plane.reshape(height // 2, 2, width // 2, 2).mean(axis=(1, 3))
