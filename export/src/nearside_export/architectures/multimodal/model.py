"""What every family gives: methods to export, facts for the manifest, a reference."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol

import torch

from nearside_export.manifest import VisionFacts

if TYPE_CHECKING:
    from transformers import PreTrainedModel

VISION_ENCODER = "vision_encoder"
TOKEN_EMBEDDING = "token_embedding"
PER_LAYER_EMBEDDING = "per_layer_embedding"
TEXT_DECODER = "text_decoder"


class TextFacts(Protocol):
    """What the program's constants and the manifest say of the text decoder."""

    vocab_size: int
    hidden_size: int
    kv_heads: int
    head_dim: int
    max_context: int

    @property
    def layers(self) -> tuple[object, ...]:
        """One entry a layer."""
        ...

    @property
    def sliding_window(self) -> int | None:
        """The window of the sliding layers; null where all layers see everything."""
        ...


@dataclass(frozen=True)
class Multimodal:
    """A model in eager fp32.

    ``methods`` by name, in the order in which a prompt passes through: `VISION_ENCODER`,
    `TOKEN_EMBEDDING`, `PER_LAYER_EMBEDDING` (Gemma 3n), `TEXT_DECODER`. ``per_layer_width`` is the
    width of the per-layer embedding, 0 where there is none. ``reference`` is transformers' own
    model, which shares the weights. ``notes`` are for whoever exports.
    """

    methods: dict[str, torch.nn.Module]
    text: TextFacts
    vision: VisionFacts
    image_size: int | None
    per_layer_width: int
    reference: PreTrainedModel
    notes: tuple[str, ...] = ()

    def reset(self) -> None:
        """Empty the caches."""
        for module in self.methods[TEXT_DECODER].modules():
            for name, buffer in module.named_buffers(recurse=False):
                if name in ("key", "value"):
                    buffer.zero_()
