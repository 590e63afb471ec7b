"""The decoder: tokens and positions to the logits of the last one."""

from __future__ import annotations

import torch

from nearside_export.architectures.decoder import rope
from nearside_export.architectures.decoder.attention import Attention
from nearside_export.architectures.decoder.cache import KeyValueCache
from nearside_export.architectures.decoder.config import DecoderConfig, LayerConfig
from nearside_export.architectures.decoder.mlp import Mlp
from nearside_export.architectures.decoder.norm import RmsNorm
from nearside_export.architectures.decoder.step import Step


class Layer(torch.nn.Module):
    """Attention and MLP with their norms and residual sums, f32 ``[1, S, hidden]``.

    The norms keep Hugging Face's names: with ``sandwich_norms`` (Gemma), what is called
    ``post_attention_layernorm`` follows attention; without, it precedes the MLP.
    """

    def __init__(
        self, config: DecoderConfig, layer: LayerConfig, kind: int, slots: int, attention: str
    ) -> None:
        super().__init__()
        size, eps = config.hidden_size, config.norm_eps
        self.sandwich = config.sandwich_norms
        self.self_attn = Attention(config, layer, kind, slots, attention)
        self.mlp = Mlp(config)
        self.input_layernorm = RmsNorm(size, eps)
        self.post_attention_layernorm = RmsNorm(size, eps)
        if self.sandwich:
            self.pre_feedforward_layernorm = RmsNorm(size, eps)
            self.post_feedforward_layernorm = RmsNorm(size, eps)

    def forward(self, x: torch.Tensor, step: Step) -> torch.Tensor:
        """Return the next residual stream."""
        attended = self.self_attn(self.input_layernorm(x), step)
        if not self.sandwich:
            x = x + attended
            return x + self.mlp(self.post_attention_layernorm(x))
        x = x + self.post_attention_layernorm(attended)
        inner = self.mlp(self.pre_feedforward_layernorm(x))
        return x + self.post_feedforward_layernorm(inner)


class Decoder(torch.nn.Module):
    """A causal language model with a static cache of ``context_length`` positions.

    ``tied``: ``lm_head.weight`` is ``embedding.weight``, one Parameter. Weights are fp32. Calls
    must give positions below ``context_length``; a position that was written before is written
    anew, and what lies behind it is not seen.
    """

    def __init__(
        self, config: DecoderConfig, context_length: int, attention: str = "plain"
    ) -> None:
        super().__init__()
        self.config = config
        self.context_length = context_length
        self.tied = config.tied
        ropes = list(dict.fromkeys(layer.rope for layer in config.layers))
        self.embedding = torch.nn.Embedding(config.vocab_size, config.hidden_size)
        self.layers = torch.nn.ModuleList(
            Layer(config, layer, ropes.index(layer.rope), context_length, attention)
            for layer in config.layers
        )
        self.norm = RmsNorm(config.hidden_size, config.norm_eps)
        self.lm_head = torch.nn.Linear(config.hidden_size, config.vocab_size, bias=False)
        if self.tied:
            self.lm_head.weight = self.embedding.weight
        self.ropes = len(ropes)
        with torch.device("cpu"):
            self.register_buffer("turn", rope.half_turn(config.head_dim), persistent=False)
            for kind, kind_of_rope in enumerate(ropes):
                frequencies = rope.inverse_frequencies(kind_of_rope, config.head_dim)
                self.register_buffer(f"frequencies_{kind}", frequencies, persistent=False)

    def forward(self, tokens: torch.Tensor, cache_position: torch.Tensor) -> torch.Tensor:
        """Logits f32 ``[1, 1, vocab]`` after the last of ``tokens`` i64 ``[1, S]``.

        ``cache_position`` i64 ``[S]`` says where each token stands.
        """
        return self.decode(self.embed(tokens), cache_position)

    def embed(self, tokens: torch.Tensor) -> torch.Tensor:
        """Embed i64 ``[1, S]`` as f32 ``[1, S, hidden]``, scaled as the layers expect it."""
        embedded = self.embedding(tokens)
        scale = self.config.embedding_scale
        return embedded if scale == 1.0 else embedded * scale

    def decode(
        self,
        embedded: torch.Tensor,
        cache_position: torch.Tensor,
        visible_until: torch.Tensor | None = None,
    ) -> torch.Tensor:
        """Logits f32 ``[1, 1, vocab]`` after the last row of ``embedded`` f32 ``[1, S, hidden]``.

        ``visible_until`` i64 ``[S]`` is the last position that each row may see; its own where
        null.
        """
        return self.logits(self.stream(embedded, cache_position, visible_until)[:, -1:, :])

    def stream(
        self,
        embedded: torch.Tensor,
        cache_position: torch.Tensor,
        visible_until: torch.Tensor | None = None,
    ) -> torch.Tensor:
        """Run all layers: f32 ``[1, S, hidden]`` to the same shape, before the last norm."""
        frequencies = [getattr(self, f"frequencies_{kind}") for kind in range(self.ropes)]
        slots = self.context_length
        step = Step(cache_position, visible_until, slots, frequencies, self.turn)
        for layer in self.layers:
            embedded = layer(embedded, step)
        return embedded

    def logits(self, stream: torch.Tensor) -> torch.Tensor:
        """Last norm and head: f32 ``[1, S, hidden]`` to ``[1, S, vocab]``."""
        logits = self.lm_head(self.norm(stream))
        cap = self.config.logit_softcap
        return torch.tanh(logits / cap) * cap if cap else logits

    def reset(self) -> None:
        """Empty the caches (eager use; a program's host zeroes the arena)."""
        for module in self.modules():
            if isinstance(module, KeyValueCache):
                module.reset()
