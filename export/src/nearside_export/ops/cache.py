"""Keys or values as a layer keeps them: f32, f16, or bytes.

f32 and f16 caches are ``[KV, C, D]``. A u8 cache is ``[KV, C, D + 4]``: for each head ``C * D``
integers of -127 to 127, row by row, and then ``C`` f32 scales, each its row's largest absolute
value / 127.
"""

from __future__ import annotations

import torch

DTYPES = {"f32": torch.float32, "f16": torch.float16, "int8": torch.uint8}
"""What a cache may be, by the exporter's names."""
SCALE_BYTES = 4
"""Of a row of a u8 cache."""


def row(kind: str, dim: int) -> int:
    """Elements that a row of ``dim`` numbers takes in a cache of ``kind``."""
    return dim + (SCALE_BYTES if kind == "int8" else 0)


def dim(cache: torch.Tensor) -> int:
    """Numbers of a row: D."""
    return cache.shape[2] - (SCALE_BYTES if cache.dtype is torch.uint8 else 0)


def read(cache: torch.Tensor) -> torch.Tensor:
    """Give f32 ``[KV, C, D]``."""
    if cache.dtype is not torch.uint8:
        return cache.to(torch.float32)
    ints, scales = _parts(cache)
    return ints * scales


def rounded(rows: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
    """Round f32 ``[..., D]`` to integers i8 ``[..., D]`` and scales f32 ``[..., 1]``."""
    scales = rows.abs().amax(-1, keepdim=True) / 127
    divisor = torch.where(scales > 0, scales, 1.0)
    return (rows / divisor).round().clamp(-127, 127).to(torch.int8), scales


def write(cache: torch.Tensor, slots: torch.Tensor, rows: torch.Tensor) -> None:
    """Put f32 ``[S, KV, D]`` into ``slots`` i64 ``[S]``; the last of rows for one slot stays."""
    values = rows.transpose(0, 1)
    if cache.dtype is not torch.uint8:
        cache[:, slots] = values.to(cache.dtype)
        return
    ints, scales = _parts(cache)
    ints[:, slots], scales[:, slots] = rounded(values)


def _parts(cache: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
    """View a u8 cache as integers i8 ``[KV, C, D]`` and scales f32 ``[KV, C, 1]``."""
    heads, slots, _ = cache.shape
    numbers = slots * dim(cache)
    whole = cache.view(heads, -1)
    ints = whole[:, :numbers].view(torch.int8).view(heads, slots, -1)
    scales = whole[:, numbers:].view(torch.float32).view(heads, slots, 1)
    return ints, scales
