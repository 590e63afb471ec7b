"""``nearside::rope_table``: cosines and sines of a call's positions, once for all layers.

``cache_position`` i64 ``[S]``, ``frequencies`` f32 ``[D / 2]``, radians a position, to f32
``[S, D]``: in each row the cosines of position * frequency, a product in f32, then the sines.
"""

from __future__ import annotations

import torch

from nearside_export.ops.definition import define, require_tensor

NAME = "nearside::rope_table"
ARGUMENTS = "Tensor cache_position, Tensor frequencies"


def rope_table(cache_position: torch.Tensor, frequencies: torch.Tensor) -> torch.Tensor:
    """Make the table; ``RuntimeError`` for shapes or types that don't fit together."""
    return torch.ops.nearside.rope_table(cache_position, frequencies)


def _eager(cache_position: torch.Tensor, frequencies: torch.Tensor) -> torch.Tensor:
    _check(cache_position, frequencies)
    angles = cache_position.to(torch.float32)[:, None] * frequencies
    return torch.cat((angles.cos(), angles.sin()), dim=1)


def _fake(cache_position: torch.Tensor, frequencies: torch.Tensor) -> torch.Tensor:
    _check(cache_position, frequencies)
    return frequencies.new_empty(cache_position.shape[0], 2 * frequencies.shape[0])


def _check(cache_position: torch.Tensor, frequencies: torch.Tensor) -> None:
    require_tensor("rope_table", "cache_position", cache_position, torch.int64, 1)
    require_tensor("rope_table", "frequencies", frequencies, torch.float32, 1)


define("rope_table", ARGUMENTS, _eager, _fake)
