"""Encoder families: their configuration's fields, and where their weights are.

BERT (MiniLM, BGE, E5, GTE and others are of this type), RoBERTa and XLM-RoBERTa, MPNet, DistilBERT.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable
from dataclasses import dataclass

from nearside_export.architectures.encoder.config import EncoderConfig
from nearside_export.errors import SourceError, UnsupportedError
from nearside_export.sources.fields import Fields

_ACTIVATIONS = {
    "gelu": "gelu",
    "gelu_new": "gelu_tanh",
    "gelu_pytorch_tanh": "gelu_tanh",
    "relu": "relu",
}


@dataclass(frozen=True)
class Names:
    """Where a family keeps its weights, without the model's prefix and without ``.weight``.

    Those of a layer follow ``layer`` and its number.
    """

    layer: str
    query: str
    key: str
    value: str
    out: str
    attention_norm: str
    up: str
    down: str
    norm: str


BERT = Names(
    layer="encoder.layer",
    query="attention.self.query",
    key="attention.self.key",
    value="attention.self.value",
    out="attention.output.dense",
    attention_norm="attention.output.LayerNorm",
    up="intermediate.dense",
    down="output.dense",
    norm="output.LayerNorm",
)

DISTILBERT = Names(
    layer="transformer.layer",
    query="attention.q_lin",
    key="attention.k_lin",
    value="attention.v_lin",
    out="attention.out_lin",
    attention_norm="sa_layer_norm",
    up="ffn.lin1",
    down="ffn.lin2",
    norm="output_layer_norm",
)

MPNET = dataclasses.replace(
    BERT,
    query="attention.attn.q",
    key="attention.attn.k",
    value="attention.attn.v",
    out="attention.attn.o",
    attention_norm="attention.LayerNorm",
)


def _bert(config: Fields) -> EncoderConfig:
    return _of_bert(config, position_offset=0)


def _roberta(config: Fields) -> EncoderConfig:
    # Positions are counted from behind the padding token's row.
    return _of_bert(config, position_offset=config.integer("pad_token_id", minimum=0) + 1)


def _mpnet(config: Fields) -> EncoderConfig:
    return dataclasses.replace(
        # transformers has the padding token's row in the code.
        _of_bert(config, position_offset=2),
        token_types=0,
        relative_buckets=config.integer("relative_attention_num_buckets", 32, minimum=8),
    )


def _of_bert(config: Fields, position_offset: int) -> EncoderConfig:
    config.refuse("is_decoder", "a decoder sees no later tokens; export it with generate")
    config.refuse(
        "position_embedding_type",
        "only absolute positions can be exported",
        allowed=("absolute",),
    )
    return _checked(
        config,
        EncoderConfig(
            family=config.text("model_type"),
            vocab_size=config.integer("vocab_size"),
            hidden_size=config.integer("hidden_size"),
            intermediate_size=config.integer("intermediate_size"),
            heads=config.integer("num_attention_heads"),
            layers=config.integer("num_hidden_layers"),
            positions=config.integer("max_position_embeddings"),
            position_offset=position_offset,
            token_types=config.integer("type_vocab_size", 2),
            norm_eps=config.number("layer_norm_eps"),
            activation=_activation(config, "hidden_act"),
        ),
    )


def _distilbert(config: Fields) -> EncoderConfig:
    return _checked(
        config,
        EncoderConfig(
            family="distilbert",
            vocab_size=config.integer("vocab_size"),
            hidden_size=config.integer("dim"),
            intermediate_size=config.integer("hidden_dim"),
            heads=config.integer("n_heads"),
            layers=config.integer("n_layers"),
            positions=config.integer("max_position_embeddings"),
            position_offset=0,
            token_types=0,
            # transformers has it in the code.
            norm_eps=1e-12,
            activation=_activation(config, "activation"),
        ),
    )


@dataclass(frozen=True)
class Family:
    """How to read a model type: its configuration, its tensors' names and their prefix."""

    read: Callable[[Fields], EncoderConfig]
    names: Names
    prefix: str


FAMILIES = {
    "bert": Family(_bert, BERT, "bert."),
    "roberta": Family(_roberta, BERT, "roberta."),
    "xlm-roberta": Family(_roberta, BERT, "roberta."),
    "mpnet": Family(_mpnet, MPNET, "mpnet."),
    "distilbert": Family(_distilbert, DISTILBERT, "distilbert."),
}
"""By ``model_type``. The prefix is there where the checkpoint has a head, too."""


def family(config: Fields) -> Family:
    """Find the family of a ``config.json``; `UnsupportedError` lists those that can be exported."""
    model_type = config.text("model_type")
    found = FAMILIES.get(model_type)
    if found is None:
        raise UnsupportedError(
            f"{config.name('model_type')} is {model_type!r}, an encoder that can't be exported; "
            f"these can: {', '.join(FAMILIES)}"
        )
    return found


def _activation(config: Fields, field: str) -> str:
    name = config.text(field)
    if name not in _ACTIVATIONS:
        raise UnsupportedError(
            f"{config.name(field)} is {name!r}, an activation that can't be exported; "
            f"these can: {', '.join(_ACTIVATIONS)}"
        )
    return _ACTIVATIONS[name]


def _checked(config: Fields, encoder: EncoderConfig) -> EncoderConfig:
    if encoder.hidden_size % encoder.heads:
        raise SourceError(
            f"{config.file}: the hidden size {encoder.hidden_size} is not a multiple of the "
            f"{encoder.heads} attention heads. Correct the file or fetch it again"
        )
    if encoder.max_tokens < 1:
        raise SourceError(
            f"{config.name('max_position_embeddings')} is {encoder.positions}, which leaves no "
            "position for a token. Correct the file or fetch it again"
        )
    return encoder
