"""``nearside::linear``: a linear layer of 4- or 8-bit weights, packed as its kernels read them.

``x`` f32 ``[1, S, K]``, ``weight`` u8 as in :mod:`.packed`, ``bias`` f32 ``[rows]`` or null, to f32
``[1, S, rows]``. Each row of ``x`` is rounded to 8 bits in blocks of 32 columns: the scale is the
largest absolute value / 127, the integers the values / scale, halves to even. The products of a
block are added up in whole numbers, the blocks in f32, one after the other: what a row gives does
not depend on the others.
"""

from __future__ import annotations

import torch

from nearside_export.ops import packed
from nearside_export.ops.definition import define, require, require_tensor

NAME = "nearside::linear"
ARGUMENTS = "Tensor x, Tensor weight, Tensor? bias, int rows, int bits"


def linear(
    x: torch.Tensor, weight: torch.Tensor, bias: torch.Tensor | None, *, rows: int, bits: int
) -> torch.Tensor:
    """Multiply; ``RuntimeError`` for shapes or types that don't fit together."""
    return torch.ops.nearside.linear(x, weight, bias, rows, bits)


def quantised(x: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
    """Round f32 ``[S, K]``: integers as f32 ``[S, K / 32, 32]``, scales f32 ``[S, K / 32]``.

    A block with an infinity or a NaN has the scale NaN.
    """
    blocks = x.reshape(len(x), -1, packed.BLOCK)
    largest = blocks.abs().amax(2)
    finite = torch.isfinite(largest)
    scales = torch.where(finite, largest / 127, torch.nan)
    usable = (finite & (scales != 0))[..., None]
    ints = (blocks / scales[..., None]).round().clamp(-127, 127)
    return torch.where(usable, ints, 0.0), scales


def _eager(
    x: torch.Tensor, weight: torch.Tensor, bias: torch.Tensor | None, rows: int, bits: int
) -> torch.Tensor:
    _check(x, weight, bias, rows, bits)
    columns = x.shape[2]
    known = packed.unpack(weight, rows, columns, bits)
    ints = known.ints.view(rows, -1, packed.BLOCK).to(torch.float32)
    values, scales = quantised(x[0])
    out = torch.zeros(x.shape[1], rows)
    for block in range(columns // packed.BLOCK):
        # Whole numbers below 2^24: exact in f32.
        products = values[:, block] @ ints[:, block].t()
        if bits == 4:
            products = known.scales[:, block] * products
        if known.offsets is not None:
            products = products + known.offsets[:, block] * values[:, block].sum(1, keepdim=True)
        out += scales[:, block, None] * products
    if bits == 8:
        out *= known.scales[:, 0]
    return (out if bias is None else out + bias)[None]


def _fake(
    x: torch.Tensor, weight: torch.Tensor, bias: torch.Tensor | None, rows: int, bits: int
) -> torch.Tensor:
    _check(x, weight, bias, rows, bits)
    return x.new_empty(1, x.shape[1], rows)


def _check(
    x: torch.Tensor, weight: torch.Tensor, bias: torch.Tensor | None, rows: int, bits: int
) -> None:
    require_tensor("linear", "x", x, torch.float32, 3)
    require("linear", x.shape[0] == 1, f"the batch is {x.shape[0]}, not 1")
    if said := packed.problem(weight, rows, x.shape[2], bits):
        require("linear", False, said)
    if bias is not None:
        require_tensor("linear", "bias", bias, torch.float32, 1)
        require("linear", bias.shape[0] == rows, f"bias has {bias.shape[0]} numbers, not {rows}")


define("linear", ARGUMENTS, _eager, _fake)
