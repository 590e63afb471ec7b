"""One decoder layer: AltUp around attention with LAuReL, and a feed-forward network."""

from __future__ import annotations

import math

import torch

from nearside_export.architectures.decoder.norm import RmsNorm
from nearside_export.architectures.decoder.step import Step
from nearside_export.architectures.gemma3n.altup import AltUp, Streams
from nearside_export.architectures.gemma3n.attention import Attention, Written
from nearside_export.architectures.gemma3n.config import Config
from nearside_export.architectures.gemma3n.laurel import Laurel
from nearside_export.architectures.gemma3n.mlp import MLP
from nearside_export.architectures.gemma3n.per_layer import PerLayerUpdate


class Layer(torch.nn.Module):
    """Layer ``layer`` of ``config``; ``kind`` numbers its RoPE among the model's."""

    def __init__(self, config: Config, layer: int, kind: int, slots: int, attention: str) -> None:
        super().__init__()
        size, eps = config.hidden_size, config.norm_eps
        self.active = config.altup_active
        self.correct_scale = config.altup_correct_scale
        self.altup = AltUp(config)
        self.laurel = Laurel(config)
        self.self_attn = Attention(config, layer, kind, slots, attention)
        self.mlp = MLP(config, layer)
        self.per_layer = PerLayerUpdate(config)
        self.input_layernorm = RmsNorm(size, eps)
        self.post_attention_layernorm = RmsNorm(size, eps)
        self.pre_feedforward_layernorm = RmsNorm(size, eps)
        self.post_feedforward_layernorm = RmsNorm(size, eps)

    def forward(
        self,
        streams: Streams,
        step: Step,
        per_layer_input: torch.Tensor,
        shared: Written | None,
    ) -> tuple[Streams, Written]:
        """Give the streams after the layer, and what it attended to.

        ``per_layer_input`` f32 ``[S, P]``; ``shared``: see :class:`.attention.Attention`.
        """
        predictions = self.altup.predict(streams)
        active = predictions[self.active]
        normed = self.input_layernorm(active)
        attended, written = self.self_attn(normed, step, shared)
        x = active + self.post_attention_layernorm(attended)
        x = (x + self.laurel(normed)) * math.sqrt(0.5)
        fed = self.mlp(self.pre_feedforward_layernorm(x))
        x = x + self.post_feedforward_layernorm(fed)
        corrected = self.altup.correct(predictions, x)
        first = corrected[self.active]
        if self.correct_scale:
            first = first * self.altup.correct_output_scale
        update = self.per_layer(first, per_layer_input)
        # All but the first, whichever is active: so was the model trained.
        return [corrected[0], *(stream + update for stream in corrected[1:])], written
