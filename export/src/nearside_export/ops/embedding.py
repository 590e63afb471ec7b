"""``nearside::embedding``: rows of a packed table of 4 or 8 bits, as floats.

``tokens`` i64 ``[1, S]``, ``weight`` u8 as in :mod:`.packed`, whose rows are the vocabulary, to f32
``[1, S, columns]``: ``scale`` times the row of each token. The table may be a linear layer's weight
too. Nothing but the rows that are asked for is unpacked.
"""

from __future__ import annotations

import torch

from nearside_export.ops import packed
from nearside_export.ops.definition import define, require, require_tensor

NAME = "nearside::embedding"
ARGUMENTS = "Tensor tokens, Tensor weight, int columns, int bits, float scale"


def embedding(
    tokens: torch.Tensor, weight: torch.Tensor, *, columns: int, bits: int, scale: float = 1.0
) -> torch.Tensor:
    """Look up; ``RuntimeError`` for shapes or types that don't fit together, and unknown tokens."""
    return torch.ops.nearside.embedding(tokens, weight, columns, bits, float(scale))


def _eager(
    tokens: torch.Tensor, weight: torch.Tensor, columns: int, bits: int, scale: float
) -> torch.Tensor:
    _check(tokens, weight, columns, bits, scale)
    ids = tokens[0]
    rows = packed.TILE * weight.shape[0]
    known = bool(((ids >= 0) & (ids < rows)).all())
    require("embedding", known, f"tokens {ids.tolist()} are not all within 0 to {rows - 1}")
    tiles = packed.unpack(weight[ids // packed.TILE], packed.TILE * len(ids), columns, bits)
    picked = torch.arange(len(ids)) * packed.TILE + ids % packed.TILE
    return (scale * tiles.dequantise()[picked])[None]


def _fake(
    tokens: torch.Tensor, weight: torch.Tensor, columns: int, bits: int, scale: float
) -> torch.Tensor:
    _check(tokens, weight, columns, bits, scale)
    return weight.new_empty(1, tokens.shape[1], columns, dtype=torch.float32)


def _check(
    tokens: torch.Tensor, weight: torch.Tensor, columns: int, bits: int, _scale: float
) -> None:
    require_tensor("embedding", "tokens", tokens, torch.int64, 2)
    require("embedding", tokens.shape[0] == 1, f"the batch is {tokens.shape[0]}, not 1")
    require_tensor("embedding", "weight", weight, torch.uint8, 2)
    if said := packed.problem(weight, packed.TILE * weight.shape[0], columns, bits):
        require("embedding", False, said)


define("embedding", ARGUMENTS, _eager, _fake)
