"""LAuReL: a learned low-rank path beside attention."""

from __future__ import annotations

import torch

from nearside_export.architectures.decoder.norm import RmsNorm
from nearside_export.architectures.gemma3n.config import Config


class Laurel(torch.nn.Module):
    """f32 ``[S, D]`` plus its normed low-rank image."""

    def __init__(self, config: Config) -> None:
        super().__init__()
        self.linear_left = torch.nn.Linear(config.hidden_size, config.laurel_rank, bias=False)
        self.linear_right = torch.nn.Linear(config.laurel_rank, config.hidden_size, bias=False)
        self.post_laurel_norm = RmsNorm(config.hidden_size, config.norm_eps)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        """Add the path to ``x``."""
        return x + self.post_laurel_norm(self.linear_right(self.linear_left(x)))
