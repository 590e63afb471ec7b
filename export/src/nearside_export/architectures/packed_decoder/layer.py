"""One layer."""

from __future__ import annotations

from dataclasses import dataclass

import torch

from nearside_export.architectures.decoder.cache import CachingLayer, KeyValueCache
from nearside_export.architectures.decoder.config import DecoderConfig, LayerConfig
from nearside_export.architectures.decoder.norm import RmsNorm
from nearside_export.architectures.packed_decoder.linear import PackedMatrix
from nearside_export.manifest.variant import KvCache
from nearside_export.ops.add_rms_norm import add_rms_norm
from nearside_export.ops.gated import gated
from nearside_export.ops.rms_norm import rms_norm
from nearside_export.ops.rotary_attention import rotary_attention


@dataclass(frozen=True)
class Call:
    """What the layers of one call share.

    ``positions`` i64 ``[S]``, ``visible_until`` i64 ``[S]`` or null, and a table of rotations f32
    ``[S, D]`` for each kind of RoPE.
    """

    positions: torch.Tensor
    visible_until: torch.Tensor | None
    tables: list[torch.Tensor]


class Norm(torch.nn.Module):
    """A norm's weight f32 ``[D]``, and what it does with rows of f32 ``[1, S, D]``."""

    def __init__(self, norm: RmsNorm) -> None:
        super().__init__()
        self.register_buffer("weight", norm.weight.detach(), persistent=False)
        self.eps = norm.eps

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        """Normalise."""
        return rms_norm(x, self.weight, eps=self.eps)

    def added(self, x: torch.Tensor, delta: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
        """Give ``x + delta``, and that normalised."""
        return add_rms_norm(x, delta, self.weight, eps=self.eps)


@dataclass(frozen=True)
class Matrices:
    """A layer's weights: those of queries, keys and values are one, as are those of gate and up."""

    qkv: PackedMatrix
    o: PackedMatrix
    gate_up: PackedMatrix
    down: PackedMatrix


@dataclass(frozen=True)
class Norms:
    """A layer's norms: ``query`` and ``key`` where heads are normalised.

    ``attention_out`` and ``mlp_out`` where what is added to the stream is normalised before.
    """

    attention_in: Norm
    mlp_in: Norm
    attention_out: Norm | None
    mlp_out: Norm | None
    query: Norm | None
    key: Norm | None


class PackedLayer(CachingLayer):
    """Attention and MLP, with a cache of ``context`` positions until it is told what is seen.

    ``rope`` numbers the layer's RoPE among the model's.
    """

    def __init__(
        self,
        config: DecoderConfig,
        layer: LayerConfig,
        rope: int,
        context: int,
        cache: KvCache,
        matrices: Matrices,
        norms: Norms,
    ) -> None:
        store = KeyValueCache(config.kv_heads, context, config.head_dim, cache)
        super().__init__(store, context, layer.window)
        self.qkv, self.o = matrices.qkv, matrices.o
        self.gate_up, self.down = matrices.gate_up, matrices.down
        self.attention_in, self.mlp_in = norms.attention_in, norms.mlp_in
        self.attention_out, self.mlp_out = norms.attention_out, norms.mlp_out
        self.query_norm, self.key_norm = norms.query, norms.key
        self.rope = rope
        self.heads, self.scale = config.heads, config.query_scale
        self.activation = config.activation

    def attend(self, normed: torch.Tensor, call: Call) -> torch.Tensor:
        """Attend with rows of the stream, normalised: f32 ``[1, S, hidden]`` to ``[1, S, H * D]``.

        The heads' results: `finish` multiplies them.
        """
        norms = None
        if self.query_norm is not None and self.key_norm is not None:
            norms = (self.query_norm.weight, self.key_norm.weight)
        return rotary_attention(
            self.qkv(normed),
            norms,
            call.tables[self.rope],
            (self.cache.key, self.cache.value),
            call.positions,
            call.visible_until,
            heads=self.heads,
            scale=self.scale,
            window=self.window,
            eps=self.query_norm.eps if self.query_norm is not None else 0.0,
        )

    def finish(self, x: torch.Tensor, mixed: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
        """Go on from what `attend` gave: the stream, and what is to be added to it."""
        attended = self.o(mixed)
        if self.attention_out is not None:
            attended = self.attention_out(attended)
        x, normed = self.mlp_in.added(x, attended)
        delta = self.down(gated(self.gate_up(normed), self.activation))
        return x, delta if self.mlp_out is None else self.mlp_out(delta)
