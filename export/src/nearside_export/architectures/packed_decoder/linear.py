"""A matrix as the kernels read it."""

from __future__ import annotations

from collections.abc import Sequence

import torch

from nearside_export.errors import UnsupportedError
from nearside_export.ops import embedding, packed
from nearside_export.ops import linear as operator
from nearside_export.quantise.rounded import Rounded


class PackedMatrix(torch.nn.Module):
    """A weight of 8 or 4 bits, of one or several layers that have their input in common.

    ``bias`` f32 ``[rows]`` or null. Groups of 64 columns and more repeat their scale in each block
    of 32. `UnsupportedError` for a weight that can't be packed.
    """

    def __init__(self, parts: Sequence[Rounded], bias: torch.Tensor | None = None) -> None:
        super().__init__()
        weight = _together(parts)
        self.rows, self.columns = weight.ints.shape
        self.bits = weight.bits
        try:
            bytes_ = packed.pack(weight)
        except ValueError as error:
            raise UnsupportedError(
                f"a layer can't be packed for --delegate nearside: {error}. Choose --delegate "
                "xnnpack"
            ) from error
        self.register_buffer("weight", bytes_, persistent=False)
        self.register_buffer("bias", bias, persistent=False)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        """f32 ``[1, S, columns]`` to ``[1, S, rows]``."""
        return operator.linear(x, self.weight, self.bias, rows=self.rows, bits=self.bits)

    def look_up(self, ids: torch.Tensor, scale: float) -> torch.Tensor:
        """Give ``scale`` times the rows ``ids`` i64 ``[1, S]``: f32 ``[1, S, columns]``."""
        return embedding.embedding(
            ids, self.weight, columns=self.columns, bits=self.bits, scale=scale
        )


def _together(parts: Sequence[Rounded]) -> Rounded:
    """Put the rows of ``parts``, which have the same columns and bits, one under the other."""
    scales, offsets = [_by_block(part, part.scales) for part in parts], None
    if any(part.offsets is not None for part in parts):
        offsets = torch.cat(
            [
                torch.zeros_like(found) if part.offsets is None else _by_block(part, part.offsets)
                for part, found in zip(parts, scales, strict=True)
            ]
        )
    ints = torch.cat([part.ints for part in parts])
    return Rounded(parts[0].bits, ints, torch.cat(scales), offsets)


def _by_block(part: Rounded, numbers: torch.Tensor) -> torch.Tensor:
    if part.bits == 8:
        return numbers
    return numbers.repeat_interleave(part.group_size // packed.BLOCK, dim=1)
