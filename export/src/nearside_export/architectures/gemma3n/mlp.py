"""The gated feed-forward network, sparse in some layers."""

from __future__ import annotations

import torch

from nearside_export.architectures.decoder.mlp import gelu_tanh
from nearside_export.architectures.gemma3n.config import Config
from nearside_export.architectures.gemma3n.sparsity import GaussianTopK


class MLP(torch.nn.Module):
    """Gate with GELU (tanh), multiply, project back."""

    def __init__(self, config: Config, layer: int) -> None:
        super().__init__()
        inner, outer = config.hidden_size, config.intermediate_sizes[layer]
        self.gate_proj = torch.nn.Linear(inner, outer, bias=False)
        self.up_proj = torch.nn.Linear(inner, outer, bias=False)
        self.down_proj = torch.nn.Linear(outer, inner, bias=False)
        sparsity = config.sparsity[layer]
        self.sparsify = GaussianTopK(outer, sparsity) if sparsity > 0.0 else torch.nn.Identity()

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        """f32 ``[S, D]`` to the same shape."""
        gate = gelu_tanh(self.sparsify(self.gate_proj(x)))
        return self.down_proj(gate * self.up_proj(x))
