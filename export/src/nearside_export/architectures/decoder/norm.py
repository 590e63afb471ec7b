"""Root mean square norm."""

from __future__ import annotations

import torch
from torch.nn import functional


class RmsNorm(torch.nn.Module):
    """``x / sqrt(mean(x^2) + eps) * weight`` over the last dimension, f32.

    Gemma stores ``weight - 1``: the offset is added when weights are loaded, not at every call.
    The mean is a product with a row of ``1 / size``: XNNPACK has no mean over the last dimension,
    and delegates would end at each norm.
    """

    def __init__(self, size: int, eps: float) -> None:
        super().__init__()
        self.eps = eps
        self.weight = torch.nn.Parameter(torch.ones(size))
        average = torch.full((1, size), 1.0 / size, device="cpu")
        self.register_buffer("average", average, persistent=False)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        """Normalise ``[..., size]``."""
        scale = torch.rsqrt(functional.linear(x * x, self.average) + self.eps)
        return x * scale * self.weight
