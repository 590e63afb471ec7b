"""Attention over a static cache: projections and RoPE here, the rest in a core.

Cores write the call's keys and values into the cache and attend. `PlainCore` is made of operators
that every ExecuTorch runtime has; `FusedCore` is one operator of ours.
"""

from __future__ import annotations

import torch

from nearside_export.architectures.decoder.cache import CachingLayer, KeyValueCache
from nearside_export.architectures.decoder.config import DecoderConfig, LayerConfig
from nearside_export.architectures.decoder.norm import RmsNorm
from nearside_export.architectures.decoder.step import Step

KINDS = ("plain", "fused")


class Core(CachingLayer):
    """A layer's cache, and how its scores are scaled and bounded."""

    def __init__(self, config: DecoderConfig, layer: LayerConfig, context: int) -> None:
        store = KeyValueCache(config.kv_heads, context, config.head_dim)
        super().__init__(store, context, layer.window)
        self.scale = config.query_scale


class PlainCore(Core):
    """Grouped-query attention with two batched matrix products."""

    def forward(
        self, query: torch.Tensor, key: torch.Tensor, value: torch.Tensor, step: Step
    ) -> torch.Tensor:
        """Write, then attend: query f32 ``[1, S, H, D]``, key and value ``[1, S, KV, D]``.

        Return f32 ``[1, S, H, D]``.
        """
        slots = self.cache.slots
        rows = step.positions.shape[0]
        if slots < self.context and rows > slots - self.window + 1:
            raise ValueError(f"{rows} rows are too many: {slots} slots, a window of {self.window}")
        self.cache.write(step.slots(slots), key, value)
        return self.again(query, key, value, step)

    def again(
        self, query: torch.Tensor, key: torch.Tensor, value: torch.Tensor, step: Step
    ) -> torch.Tensor:
        """Attend with another layer's query to the cache, where ``key`` and ``value`` are already.

        The first product has the cache on its left, as it lies in memory, and gives scores
        ``[slots, rows]``. Turning those round costs ``D / group`` times less per token than turning
        the keys round would, which the usual ``query @ key^T`` has ExecuTorch do at every call.
        """
        del key, value
        keys, values = self.cache.key, self.cache.value
        heads, size = query.shape[2:]
        kv_heads, slots = keys.shape[:2]
        group = heads // kv_heads
        # XNNPACK takes no view with a size that is a symbol, which is what `reshape` makes of -1.
        grouped = (query * self.scale).view(-1, kv_heads, group, size)
        grouped = grouped.permute(1, 3, 2, 0).contiguous().view(kv_heads, size, -1)
        scores = torch.bmm(keys, grouped).transpose(1, 2).contiguous()
        scores = scores.view(kv_heads, group, -1, slots)
        weights = torch.softmax(scores + step.mask(self.window, slots), dim=-1)
        mixed = torch.bmm(weights.view(kv_heads, -1, slots), values)
        mixed = mixed.view(kv_heads, group, -1, size).permute(2, 0, 1, 3).contiguous()
        return mixed.view(1, -1, heads, size)


class FusedCore(Core):
    """The operator ``nearside::attention``, which the Nearside runtime brings."""

    def __init__(self, config: DecoderConfig, layer: LayerConfig, context: int) -> None:
        from nearside_export.ops import attention  # noqa: F401  registers the operator

        super().__init__(config, layer, context)

    def forward(
        self, query: torch.Tensor, key: torch.Tensor, value: torch.Tensor, step: Step
    ) -> torch.Tensor:
        """Attend, with the shapes of `PlainCore`."""
        return torch.ops.nearside.attention(
            query,
            key,
            value,
            self.cache.key,
            self.cache.value,
            step.positions,
            step.visible_until,
            self.scale,
            self.window,
        )

    # Written once more, which changes nothing: the operator has no form that only reads.
    again = forward


CORES: dict[str, type[PlainCore] | type[FusedCore]] = {"plain": PlainCore, "fused": FusedCore}


class Attention(torch.nn.Module):
    """Self-attention of one layer on f32 ``[1, S, hidden]``.

    ``kind`` numbers the layer's RoPE among the model's, ``attention`` is one of `KINDS`.
    """

    def __init__(
        self, config: DecoderConfig, layer: LayerConfig, kind: int, slots: int, attention: str
    ) -> None:
        super().__init__()
        hidden, size, bias = config.hidden_size, config.head_dim, config.attention_bias
        self.heads, self.kv_heads, self.head_dim = config.heads, config.kv_heads, size
        self.kind = kind
        self.q_proj = torch.nn.Linear(hidden, config.heads * size, bias=bias)
        self.k_proj = torch.nn.Linear(hidden, config.kv_heads * size, bias=bias)
        self.v_proj = torch.nn.Linear(hidden, config.kv_heads * size, bias=bias)
        self.o_proj = torch.nn.Linear(config.heads * size, hidden, bias=bias)
        if config.qk_norm:
            self.q_norm = RmsNorm(size, config.norm_eps)
            self.k_norm = RmsNorm(size, config.norm_eps)
        self.qk_norm = config.qk_norm
        self.core = CORES[attention](config, layer, slots)

    def forward(self, x: torch.Tensor, step: Step) -> torch.Tensor:
        """Return f32 ``[1, S, hidden]``."""
        query = self.q_proj(x).view(1, -1, self.heads, self.head_dim)
        key = self.k_proj(x).view(1, -1, self.kv_heads, self.head_dim)
        value = self.v_proj(x).view(1, -1, self.kv_heads, self.head_dim)
        if self.qk_norm:
            query, key = self.q_norm(query), self.k_norm(key)
        query, key = step.rotate(query, self.kind), step.rotate(key, self.kind)
        mixed = self.core(query, key, value, step)
        return self.o_proj(mixed.view(1, -1, self.heads * self.head_dim))
