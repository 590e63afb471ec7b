"""A decoder as an exported program, and the constants that go with it."""

from __future__ import annotations

from typing import Any

import torch
from torch.export import Dim, ExportedProgram

from nearside_export.architectures.decoder.cache import keep_what_is_seen
from nearside_export.architectures.decoder.config import DecoderConfig
from nearside_export.architectures.decoder.model import Decoder
from nearside_export.manifest.variant import DECODE, PREFILL
from nearside_export.sources.model import Tokenizer

FORWARD = "forward"
BOTH = f"{PREFILL},{DECODE}"
METHODS = (FORWARD, BOTH)
"""What a language model can be exported as."""


def export_methods(
    model: Decoder, max_prefill_tokens: int, methods: str
) -> dict[str, ExportedProgram]:
    """Export ``methods``, one of `METHODS`: what is for several tokens first.

    `FORWARD` takes any number up to ``max_prefill_tokens``. Of two, `DECODE` takes one token, with
    all its shapes known, and has the caches of `PREFILL`. The model is for such calls from then on.
    """
    many = export(model, max_prefill_tokens)
    if methods == FORWARD:
        return {FORWARD: many}
    one = (torch.zeros(1, 1, dtype=torch.int64), torch.zeros(1, dtype=torch.int64))
    with torch.no_grad():
        return {PREFILL: many, DECODE: torch.export.export(model, one)}


def export(model: Decoder, max_prefill_tokens: int) -> ExportedProgram:
    """Export ``forward(tokens, cache_position)`` for 1 to ``max_prefill_tokens`` tokens a call.

    The model is for such calls from then on.
    """
    # A dynamic dimension can't be traced at 0 or 1: torch.export would take those for fixed.
    rows = min(4, max_prefill_tokens)
    example = (torch.zeros(1, rows, dtype=torch.int64), torch.arange(rows))
    shapes = None
    if max_prefill_tokens > 1:
        tokens = Dim("tokens", min=1, max=max_prefill_tokens)
        shapes = {"tokens": {1: tokens}, "cache_position": {0: tokens}}
    keep_what_is_seen(model, max_prefill_tokens)
    with torch.no_grad():
        return torch.export.export(model, example, dynamic_shapes=shapes)


def constants(
    config: DecoderConfig, tokenizer: Tokenizer, context_length: int, max_prefill_tokens: int
) -> dict[str, Any]:
    """Constant methods of the program, by the names that ExecuTorch's own runners use."""
    facts: dict[str, Any] = {
        "get_max_seq_len": max_prefill_tokens,
        "get_max_context_len": context_length,
        "get_vocab_size": config.vocab_size,
        "get_eos_ids": list(tokenizer.eos_ids),
        "use_kv_cache": True,
        "enable_dynamic_shape": max_prefill_tokens > 1,
        "get_n_layers": len(config.layers),
        "get_n_kv_heads": config.kv_heads,
        "get_head_dim": config.head_dim,
    }
    if tokenizer.bos_id is not None:
        facts["get_bos_id"] = tokenizer.bos_id
    if config.sliding_window is not None:
        facts["sliding_window"] = config.sliding_window
    return facts
