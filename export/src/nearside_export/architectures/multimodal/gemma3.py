"""Gemma 3 with a SigLIP tower.

The rows of an image see each other: wholly in the layers with full attention, in those with a
window as far back as the window goes and forward to the image's end. That is
``visible_until`` = the image's last position, and so the rows of one image must come in one call.
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import torch

from nearside_export.architectures.decoder import families, weights
from nearside_export.architectures.decoder.config import DecoderConfig
from nearside_export.architectures.decoder.model import Decoder
from nearside_export.architectures.multimodal import loading
from nearside_export.architectures.multimodal.model import (
    TEXT_DECODER,
    TOKEN_EMBEDDING,
    VISION_ENCODER,
    Multimodal,
)
from nearside_export.architectures.vision.siglip import SiglipEncoder
from nearside_export.manifest import VisionFacts
from nearside_export.sources.fields import Fields

if TYPE_CHECKING:
    from transformers import Gemma3ForConditionalGeneration

ARCHITECTURE = "Gemma3ForConditionalGeneration"


class TokenEmbedding(torch.nn.Module):
    """Method ``token_embedding``: int64 ``[1, S]`` to f32 ``[1, S, D]``."""

    def __init__(self, decoder: Decoder) -> None:
        super().__init__()
        self.embedding = decoder.embedding
        self.scale = decoder.config.embedding_scale

    def forward(self, ids: torch.Tensor) -> torch.Tensor:
        """Embed ids; scaled as the decoder wants them."""
        return self.embedding(ids) * self.scale


class TextDecoder(torch.nn.Module):
    """Method ``text_decoder``: embeddings to the logits f32 ``[1, 1, V]`` of the last row."""

    def __init__(self, decoder: Decoder) -> None:
        super().__init__()
        self.decoder = decoder

    @property
    def tied(self) -> bool:
        """Whether the head's weight is the embedding table."""
        return self.decoder.tied

    @property
    def lm_head(self) -> torch.nn.Linear:
        """The head."""
        return self.decoder.lm_head

    def forward(
        self,
        inputs_embeds: torch.Tensor,
        cache_position: torch.Tensor,
        visible_until: torch.Tensor,
    ) -> torch.Tensor:
        """f32 ``[1, S, D]``, int64 ``[S]``, int64 ``[S]``."""
        return self.decoder.decode(inputs_embeds, cache_position, visible_until)


def load(folder: Path, config: Fields, context_length: int, attention: str) -> Multimodal:
    """Put the model of ``folder`` together; `SourceError` and `UnsupportedError` say what fails."""
    from transformers import Gemma3ForConditionalGeneration

    reference = loading.load(Gemma3ForConditionalGeneration, folder)
    return assemble(reference, families.read(config), context_length, attention)


def assemble(
    reference: Gemma3ForConditionalGeneration,
    facts: DecoderConfig,
    context_length: int,
    attention: str,
) -> Multimodal:
    """Put a model together that shares the weights of ``reference``, with modules of its own."""
    decoder = weights.load(facts, loading.StateDict(reference), context_length, attention)
    encoder = SiglipEncoder(reference)
    ids = reference.config
    return Multimodal(
        methods={
            VISION_ENCODER: encoder,
            TOKEN_EMBEDDING: TokenEmbedding(decoder),
            TEXT_DECODER: TextDecoder(decoder),
        },
        text=facts,
        vision=VisionFacts(
            tokens_per_image=encoder.tokens,
            image_token_id=ids.image_token_id,
            begin_image_id=ids.boi_token_id,
            end_image_id=ids.eoi_token_id,
            bidirectional=True,
        ),
        image_size=encoder.size,
        per_layer_width=0,
        reference=reference,
    )
