"""Activation sparsity: keep what lies above a quantile of a fitted normal distribution."""

from __future__ import annotations

import math

import torch

from nearside_export.architectures.gemma3n.mean import Mean


class GaussianTopK(torch.nn.Module):
    """Keep the part of f32 ``[S, size]`` that is above mean + multiplier x standard deviation.

    ``sparsity`` is the share of a normal distribution that the cut takes away, 0..1 exclusive.
    """

    def __init__(self, size: int, sparsity: float) -> None:
        super().__init__()
        self.mean = Mean(size)
        # Worked out here, in f32 as transformers does: no runtime has a kernel for erfinv.
        share = torch.tensor(sparsity, dtype=torch.float32, device="cpu")
        self.multiplier = float(torch.erfinv(2 * share - 1) * math.sqrt(2))

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        """Cut ``x``: 0 where it was below."""
        centred = x - self.mean(x)
        deviation = torch.sqrt(self.mean(centred * centred))
        return torch.relu(centred - deviation * self.multiplier)
