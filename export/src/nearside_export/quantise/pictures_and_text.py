"""Gemma 3 in integers: its text decoder by a decoder's scheme, its eyes always in 8 bits."""

from __future__ import annotations

import torch

from nearside_export.architectures.multimodal.gemma3 import TextDecoder, TokenEmbedding
from nearside_export.architectures.multimodal.model import (
    TEXT_DECODER,
    TOKEN_EMBEDDING,
    VISION_ENCODER,
    Multimodal,
)
from nearside_export.quantise.integer_linear import install
from nearside_export.quantise.rounding import nearest


def apply_to_eyes(model: Multimodal) -> None:
    """Give the linear layers of tower and projector int8 weights with a scale a row.

    In place; what shares parameters with the encoder keeps them. Activations get 8 bits when the
    program runs.
    """
    encoder = model.methods[VISION_ENCODER]
    encoder.spell_projection_out()
    names = [n for n, m in encoder.named_modules() if isinstance(m, torch.nn.Linear)]
    for name in names:
        install(encoder, name, nearest.rows(encoder.get_submodule(name).weight.detach()))


def take_table(model: Multimodal) -> None:
    """Let ``token_embedding`` read the table that the decoder has now."""
    decoder, embedding = model.methods[TEXT_DECODER], model.methods[TOKEN_EMBEDDING]
    assert isinstance(decoder, TextDecoder)
    assert isinstance(embedding, TokenEmbedding)
    embedding.embedding = decoder.decoder.embedding
