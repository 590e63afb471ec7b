"""Qwen3, dense: queries and keys are normalised a head, and ``head_dim`` is its own choice."""

from __future__ import annotations

from nearside_export.architectures.decoder import fields
from nearside_export.architectures.decoder.config import DecoderConfig, LayerConfig
from nearside_export.architectures.decoder.layer_types import windows
from nearside_export.sources.fields import Fields


def read(config: Fields) -> DecoderConfig:
    """Read a configuration of model type ``qwen3``."""
    heads = config.integer("num_attention_heads")
    kv_heads = config.integer("num_key_value_heads")
    head_dim = config.integer("head_dim")
    fields.check_heads(config, heads, kv_heads, head_dim)
    rope = fields.rope(config, head_dim)
    return DecoderConfig(
        family="qwen3",
        vocab_size=config.integer("vocab_size"),
        hidden_size=config.integer("hidden_size"),
        intermediate_size=config.integer("intermediate_size"),
        heads=heads,
        kv_heads=kv_heads,
        head_dim=head_dim,
        layers=tuple(LayerConfig(rope, window) for window in _windows(config)),
        max_context=config.integer("max_position_embeddings"),
        norm_eps=config.number("rms_norm_eps"),
        query_scale=head_dim**-0.5,
        activation=fields.activation(config, "hidden_act"),
        qk_norm=True,
        attention_bias=config.boolean("attention_bias", False),
        tied=config.boolean("tie_word_embeddings", False),
    )


def _windows(config: Fields) -> list[int]:
    """Windows of all layers: the first ``max_window_layers`` see everything."""
    count = fields.layer_count(config)
    window = 0
    if config.boolean("use_sliding_window", False):
        window = config.integer("sliding_window")
    first = config.integer("max_window_layers", 28, minimum=0)
    usual = [window if window and i >= first else 0 for i in range(count)]
    return windows(config, count, window, usual)
