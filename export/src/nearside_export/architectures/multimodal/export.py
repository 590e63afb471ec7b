"""A multimodal model as exported programs, one a method."""

from __future__ import annotations

import torch
from torch.export import Dim, ExportedProgram

from nearside_export.architectures.decoder.cache import keep_what_is_seen
from nearside_export.architectures.multimodal.model import (
    PER_LAYER_EMBEDDING,
    TEXT_DECODER,
    TOKEN_EMBEDDING,
    VISION_ENCODER,
    Multimodal,
)


def export(
    model: Multimodal, width: int, height: int, max_prefill_tokens: int
) -> dict[str, ExportedProgram]:
    """Export all methods: pictures of one size, 1 to ``max_prefill_tokens`` rows a call.

    The model is for such calls from then on.
    """
    # A dynamic dimension can't be traced at 0 or 1: torch.export would take those for fixed.
    rows = min(4, max_prefill_tokens)
    ids, positions = torch.zeros(1, rows, dtype=torch.int64), torch.arange(rows)
    dim = Dim("rows", min=1, max=max_prefill_tokens) if max_prefill_tokens > 1 else None
    inner, outer = {1: dim}, {0: dim}
    embeds = torch.zeros(1, rows, model.text.hidden_size)
    # Not the same tensor twice: torch.export would take the two inputs for one.
    decoder = [(embeds, inner), (positions, outer), (positions.clone(), outer)]
    if model.per_layer_width:
        decoder.append((torch.zeros(1, rows, model.per_layer_width), inner))
    inputs = {
        VISION_ENCODER: [(torch.zeros(1, 3, height, width), None)],
        TOKEN_EMBEDDING: [(ids, inner)],
        PER_LAYER_EMBEDDING: [(ids, inner)],
        TEXT_DECODER: decoder,
    }
    keep_what_is_seen(model.methods[TEXT_DECODER], max_prefill_tokens)
    programs = {}
    with torch.no_grad():
        for name, module in model.methods.items():
            example = tuple(tensor for tensor, _ in inputs[name])
            dynamic = name != VISION_ENCODER and dim is not None
            shapes = tuple(shape for _, shape in inputs[name]) if dynamic else None
            programs[name] = torch.export.export(
                module.eval(), example, dynamic_shapes=shapes, strict=False
            )
    model.reset()
    return programs
