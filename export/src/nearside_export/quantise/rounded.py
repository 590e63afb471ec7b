"""Weights as integers."""

from __future__ import annotations

from dataclasses import dataclass

import torch

LIMITS = {8: (-127, 127), 4: (-8, 7)}
"""Bits of a weight to its least and its greatest integer."""


@dataclass(frozen=True)
class Rounded:
    """A weight as integers: ``ints * scales + offsets``.

    ``ints`` i8 ``[rows, columns]`` of ``bits`` bits; ``scales`` f32 ``[rows, groups]``;
    ``offsets`` f32 ``[rows, groups]``, or null where all are zero. XNNPACK's kernels take positive
    scales only.
    """

    bits: int
    ints: torch.Tensor
    scales: torch.Tensor
    offsets: torch.Tensor | None = None

    @property
    def group_size(self) -> int:
        """Columns that share a scale."""
        return self.ints.shape[1] // self.scales.shape[1]

    def dequantise(self) -> torch.Tensor:
        """Give the weight back as f32 ``[rows, columns]``."""
        rows, groups = self.scales.shape
        values = self.ints.reshape(rows, groups, -1) * self.scales.unsqueeze(2)
        if self.offsets is not None:
            values = values + self.offsets.unsqueeze(2)
        return values.reshape(rows, -1)
