"""Llama 2 and 3, and SmolLM2."""

from __future__ import annotations

from nearside_export.architectures.decoder import fields
from nearside_export.architectures.decoder.config import DecoderConfig, LayerConfig
from nearside_export.errors import SourceError
from nearside_export.sources.fields import Fields


def read(config: Fields) -> DecoderConfig:
    """Read a configuration of model type ``llama``."""
    hidden = config.integer("hidden_size")
    heads = config.integer("num_attention_heads")
    kv_heads = config.integer("num_key_value_heads", heads)
    head_dim = config.integer("head_dim", None)
    if head_dim is None:
        if hidden % heads:
            raise SourceError(
                f"{config.name('hidden_size')} is {hidden}, not a multiple of "
                f"num_attention_heads, {heads}, and head_dim is not given. Add head_dim"
            )
        head_dim = hidden // heads
    fields.check_heads(config, heads, kv_heads, head_dim)
    layer = LayerConfig(fields.rope(config, head_dim))
    config.refuse("sliding_window", "Llama has no sliding window; is it another model?")
    config.refuse("rope_interleaved", "interleaved rotary embeddings can't be exported")
    return DecoderConfig(
        family="llama",
        vocab_size=config.integer("vocab_size"),
        hidden_size=hidden,
        intermediate_size=config.integer("intermediate_size"),
        heads=heads,
        kv_heads=kv_heads,
        head_dim=head_dim,
        layers=(layer,) * fields.layer_count(config),
        max_context=config.integer("max_position_embeddings"),
        norm_eps=config.number("rms_norm_eps"),
        query_scale=head_dim**-0.5,
        activation=fields.activation(config, "hidden_act"),
        attention_bias=config.boolean("attention_bias", False),
        mlp_bias=config.boolean("mlp_bias", False),
        tied=config.boolean("tie_word_embeddings", False),
    )
