"""Attention over a static cache, which the last layers share with an earlier one."""

from __future__ import annotations

from dataclasses import dataclass

import torch

from nearside_export.architectures.decoder.attention import CORES, FusedCore, PlainCore
from nearside_export.architectures.decoder.norm import RmsNorm
from nearside_export.architectures.decoder.step import Step
from nearside_export.architectures.gemma3n.config import Config


@dataclass(frozen=True)
class Written:
    """Keys and values f32 ``[1, S, K, head_dim]`` of this call, and the core that wrote them."""

    core: PlainCore | FusedCore
    key: torch.Tensor
    value: torch.Tensor

    def last(self) -> Written:
        """Keep the last row."""
        return Written(self.core, self.key[:, -1:], self.value[:, -1:])


class Attention(torch.nn.Module):
    """Grouped-query attention with normed queries, keys and values, and no further scale.

    ``kind`` numbers the layer's RoPE among the model's.
    """

    def __init__(self, config: Config, layer: int, kind: int, slots: int, attention: str) -> None:
        super().__init__()
        self.kind, self.head_dim = kind, config.head_dim
        self.shares = layer >= config.first_shared
        self.heads, self.kv_heads = config.heads, config.kv_heads
        inner, outer = config.hidden_size, config.heads * config.head_dim
        bias = config.attention_bias
        self.q_proj = torch.nn.Linear(inner, outer, bias=bias)
        self.o_proj = torch.nn.Linear(outer, inner, bias=bias)
        self.q_norm = RmsNorm(config.head_dim, config.norm_eps)
        if self.shares:
            return
        width = config.kv_heads * config.head_dim
        self.k_proj = torch.nn.Linear(inner, width, bias=bias)
        self.v_proj = torch.nn.Linear(inner, width, bias=bias)
        self.k_norm = RmsNorm(config.head_dim, config.norm_eps)
        # Its weight is 1 in every Gemma 3n and in no checkpoint.
        self.v_norm = RmsNorm(config.head_dim, config.norm_eps)
        self.core = CORES[attention](config, config.layers[layer], slots)

    def forward(
        self, x: torch.Tensor, step: Step, shared: Written | None
    ) -> tuple[torch.Tensor, Written]:
        """Attend from f32 ``[S, D]`` to the same shape, and give what was attended to.

        ``shared`` is what the layer has written whose keys and values a sharing layer uses.
        """
        query = self.q_norm(self.q_proj(x).view(1, -1, self.heads, self.head_dim))
        query = step.rotate(query, self.kind)
        if self.shares:
            written = shared
            mixed = written.core.again(query, written.key, written.value, step)
        else:
            key = self.k_norm(self.k_proj(x).view(1, -1, self.kv_heads, self.head_dim))
            value = self.v_norm(self.v_proj(x).view(1, -1, self.kv_heads, self.head_dim))
            written = Written(self.core, step.rotate(key, self.kind), value)
            mixed = self.core(query, written.key, written.value, step)
        return self.o_proj(mixed.view(-1, self.heads * self.head_dim)), written
