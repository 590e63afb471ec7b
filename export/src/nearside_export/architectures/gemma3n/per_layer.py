"""Per-layer embeddings: a second, wide table that gives every layer a vector per token.

The table is most of the model's bytes and one row a token is read of it, so it has a method of its
own and can be mapped from a file of its own.
"""

from __future__ import annotations

import math

import torch

from nearside_export.architectures.decoder.mlp import gelu_tanh
from nearside_export.architectures.decoder.norm import RmsNorm
from nearside_export.architectures.gemma3n.config import Config


class PerLayerEmbedding(torch.nn.Module):
    """Method ``per_layer_embedding``: int64 ``[1, S]`` to f32 ``[1, S, L * P]``."""

    def __init__(self, config: Config) -> None:
        super().__init__()
        self.rows = config.per_layer_vocab_size
        self.scale = math.sqrt(config.per_layer_size)
        # Named so that lowering can tell it from other tables and put it into a file of its own.
        self.per_layer_table = torch.nn.Embedding(
            self.rows, len(config.layers) * config.per_layer_size
        )

    def forward(self, ids: torch.Tensor) -> torch.Tensor:
        """Ids outside of the table, those of image tokens say, get row 0."""
        inside = (ids >= 0) & (ids < self.rows)
        return self.per_layer_table(torch.where(inside, ids, 0)) * self.scale


class PerLayerInputs(torch.nn.Module):
    """Blend the table's vectors with projections of the embeddings."""

    def __init__(self, config: Config) -> None:
        super().__init__()
        self.layers, self.size = len(config.layers), config.per_layer_size
        self.scale = config.hidden_size**-0.5
        self.projection = torch.nn.Linear(
            config.hidden_size, len(config.layers) * config.per_layer_size, bias=False
        )
        self.norm = RmsNorm(config.per_layer_size, config.norm_eps)

    def forward(self, embeds: torch.Tensor, table: torch.Tensor) -> tuple[torch.Tensor, ...]:
        """f32 ``[S, D]`` and ``[S, L * P]`` to L of ``[S, P]``."""
        projected = (self.projection(embeds) * self.scale).view(-1, self.layers, self.size)
        blended = (self.norm(projected) + table.view(-1, self.layers, self.size)) * math.sqrt(0.5)
        return blended.view(-1, self.layers * self.size).split(self.size, dim=-1)


class PerLayerUpdate(torch.nn.Module):
    """What a layer adds to all streams but the first, gated by its per-layer input."""

    def __init__(self, config: Config) -> None:
        super().__init__()
        inner, outer = config.hidden_size, config.per_layer_size
        self.per_layer_input_gate = torch.nn.Linear(inner, outer, bias=False)
        self.per_layer_projection = torch.nn.Linear(outer, inner, bias=False)
        self.post_per_layer_input_norm = RmsNorm(inner, config.norm_eps)

    def forward(self, x: torch.Tensor, per_layer_input: torch.Tensor) -> torch.Tensor:
        """f32 ``[S, D]`` and ``[S, P]`` to ``[S, D]``."""
        gate = gelu_tanh(self.per_layer_input_gate(x))
        return self.post_per_layer_input_norm(self.per_layer_projection(gate * per_layer_input))
