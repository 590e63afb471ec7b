"""From a folder to an embedder in eager fp32: the reference, and what is exported."""

from __future__ import annotations

import torch

from nearside_export.architectures.encoder import families, weights
from nearside_export.architectures.encoder.config import EncoderConfig
from nearside_export.architectures.encoder.model import Embedder
from nearside_export.sources.sentence_transformers import EmbedderSource


def embedder(source: EmbedderSource, max_tokens: int) -> tuple[Embedder, EncoderConfig]:
    """Build the embedder of ``source`` in eval mode, for texts of up to ``max_tokens``."""
    family = families.family(source.config)
    config = family.read(source.config)
    encoder = weights.load(family, config, source.tensors, max_tokens)
    model = Embedder(encoder, config.hidden_size, source.pooling, source.normalize)
    return model.eval(), config


def example(config: EncoderConfig, max_tokens: int) -> torch.Tensor:
    """Token ids i64 ``[1, S]`` that stand for any."""
    generator = torch.Generator().manual_seed(0)
    return torch.randint(config.vocab_size, (1, min(24, max_tokens)), generator=generator)
