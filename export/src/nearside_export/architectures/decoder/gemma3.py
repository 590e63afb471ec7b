"""Gemma 3's text model, alone (``gemma3_text``) or inside the multimodal one (``gemma3``).

Norms around attention and MLP, with weights stored less one; queries and keys normalised; scaled
embeddings; a scale of its own for queries; sliding layers with one RoPE, full ones with another.
"""

from __future__ import annotations

from typing import Any

from nearside_export.architectures.decoder import fields
from nearside_export.architectures.decoder.config import DecoderConfig, LayerConfig, Rope
from nearside_export.architectures.decoder.layer_types import FULL, SLIDING, windows
from nearside_export.sources.fields import Fields

MULTIMODAL_DEFAULTS = {
    "vocab_size": 262_208,
    "num_attention_heads": 8,
    "num_key_value_heads": 4,
    "head_dim": 256,
    "hidden_activation": "gelu_pytorch_tanh",
    "max_position_embeddings": 131_072,
    "rms_norm_eps": 1e-6,
    "query_pre_attn_scalar": 256,
    "sliding_window": 4096,
    "rope_theta": 1_000_000.0,
    "rope_local_base_freq": 10_000.0,
}
"""Google's multimodal checkpoints leave these out of ``text_config`` and mean transformers' values
(configuration_gemma3.py). Wrong ones show as tensors of another shape."""


def read(config: Fields) -> DecoderConfig:
    """Read a configuration of model type ``gemma3`` or ``gemma3_text``."""
    text = config.child("text_config", None)
    nested = text is not None
    if text is None:
        text = config
    else:
        text = Fields(_with_defaults(text.raw), text.file, text.path)
        fields.refuse_foreign(text)
    heads = text.integer("num_attention_heads")
    kv_heads = text.integer("num_key_value_heads")
    head_dim = text.integer("head_dim")
    hidden = text.integer("hidden_size")
    fields.check_heads(text, heads, kv_heads, head_dim)
    # The outer configuration decides where there are two, as in transformers.
    tied = text.boolean("tie_word_embeddings", True)
    return DecoderConfig(
        family="gemma3",
        vocab_size=text.integer("vocab_size"),
        hidden_size=hidden,
        intermediate_size=text.integer("intermediate_size"),
        heads=heads,
        kv_heads=kv_heads,
        head_dim=head_dim,
        layers=_layers(text, head_dim),
        max_context=text.integer("max_position_embeddings"),
        norm_eps=text.number("rms_norm_eps"),
        query_scale=text.number("query_pre_attn_scalar") ** -0.5,
        activation=fields.activation(text, "hidden_activation"),
        embedding_scale=hidden**0.5,
        norm_offset=1.0,
        sandwich_norms=True,
        qk_norm=True,
        attention_bias=text.boolean("attention_bias", False),
        logit_softcap=text.number("final_logit_softcapping", 0.0),
        tied=config.boolean("tie_word_embeddings", tied) if nested else tied,
    )


def _layers(text: Fields, head_dim: int) -> tuple[LayerConfig, ...]:
    count = fields.layer_count(text)
    window = text.integer("sliding_window")
    pattern = text.integer("sliding_window_pattern", None)
    pattern = pattern or text.integer("_sliding_window_pattern", 6)
    usual = [window if (i + 1) % pattern else 0 for i in range(count)]
    ropes = _ropes(text, head_dim)
    return tuple(
        LayerConfig(ropes[SLIDING if w else FULL], w) for w in windows(text, count, window, usual)
    )


def _ropes(text: Fields, head_dim: int) -> dict[str, Rope]:
    context = text.integer("max_position_embeddings")
    parameters = text.child("rope_parameters", None)
    if parameters is not None:
        return {
            kind: fields.rope_from(parameters.child(kind), None, head_dim, context)
            for kind in (SLIDING, FULL)
        }
    # Scaling is for the full layers only.
    full = fields.rope(text, head_dim)
    return {SLIDING: Rope(theta=text.number("rope_local_base_freq")), FULL: full}


def _with_defaults(raw: Any) -> dict[str, Any]:  # noqa: ANN401
    given = {field: value for field, value in raw.items() if value is not None}
    return {**MULTIMODAL_DEFAULTS, **given}
