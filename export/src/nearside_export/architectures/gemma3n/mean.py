"""Means over the last dimension, as a product with a constant row (see the decoder's norm)."""

from __future__ import annotations

import torch


class Mean(torch.nn.Module):
    """f32 ``[..., size]`` to ``[..., 1]``."""

    def __init__(self, size: int) -> None:
        super().__init__()
        row = torch.full((1, size), 1.0 / size, device="cpu")
        self.register_buffer("row", row, persistent=False)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        """Average over the last dimension."""
        return torch.nn.functional.linear(x, self.row)
