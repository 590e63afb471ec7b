"""Gemma 3n with a MobileNetV5 tower. Its ears are left out."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import torch

from nearside_export.architectures.gemma3n import weights
from nearside_export.architectures.gemma3n.config import Config
from nearside_export.architectures.multimodal import loading
from nearside_export.architectures.multimodal.model import (
    PER_LAYER_EMBEDDING,
    TEXT_DECODER,
    TOKEN_EMBEDDING,
    VISION_ENCODER,
    Multimodal,
)
from nearside_export.architectures.vision.mobilenet_v5 import MobileNetV5Encoder
from nearside_export.errors import SourceError
from nearside_export.manifest import VisionFacts
from nearside_export.sources.fields import Fields

if TYPE_CHECKING:
    from transformers import Gemma3nForConditionalGeneration

ARCHITECTURE = "Gemma3nForConditionalGeneration"
NO_AUDIO = "the model also hears: its audio encoder is left out, the package is for text and images"


def load(folder: Path, config: Fields, context_length: int, attention: str) -> Multimodal:
    """Put the model of ``folder`` together; `SourceError` and `UnsupportedError` say what fails."""
    from transformers import Gemma3nForConditionalGeneration

    reference = loading.load(Gemma3nForConditionalGeneration, folder)
    text = reference.config.text_config
    facts = Config.from_transformers(text)
    model = weights.load(facts, context_length, reference.state_dict(), attention)
    offset, table = _modalities(reference)
    model.token_embedding.add_modalities(offset, table)
    encoder = MobileNetV5Encoder(reference)
    ids = reference.config
    return Multimodal(
        methods={
            VISION_ENCODER: encoder,
            TOKEN_EMBEDDING: model.token_embedding,
            PER_LAYER_EMBEDDING: model.per_layer_embedding,
            TEXT_DECODER: model.text_decoder,
        },
        text=facts,
        vision=VisionFacts(
            tokens_per_image=encoder.tokens,
            image_token_id=ids.image_token_id,
            begin_image_id=ids.boi_token_id,
            end_image_id=ids.eoi_token_id,
            bidirectional=False,
        ),
        image_size=None,
        per_layer_width=len(facts.layers) * facts.per_layer_size,
        reference=reference,
        notes=(NO_AUDIO,) if "audio_config" in config else (),
    )


def _modalities(model: Gemma3nForConditionalGeneration) -> tuple[int, torch.Tensor]:
    """Embed the ids of the image and audio vocabularies: the first of them, f32 ``[rows, D]``.

    Not the text table: "end of image", say, is one of these ids and no image feature replaces it.
    """
    vision, audio = model.model.embed_vision, model.model.embed_audio
    if audio.vocab_offset != vision.vocab_offset + vision.vocab_size:
        raise SourceError(
            f"audio ids begin at {audio.vocab_offset}, not after the image ids "
            f"{vision.vocab_offset}..{vision.vocab_offset + vision.vocab_size - 1}. "
            "Correct config.json or fetch it again"
        )
    with torch.no_grad():
        rows = [
            part(input_ids=torch.arange(part.vocab_size) + part.vocab_offset)
            for part in (vision, audio)
        ]
    return vision.vocab_offset, torch.cat(rows)
