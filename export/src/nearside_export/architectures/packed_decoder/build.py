"""A packed decoder out of a plain one and the integers that its weights were rounded to."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import torch

from nearside_export.architectures.decoder.model import Decoder, Layer
from nearside_export.architectures.decoder.norm import RmsNorm
from nearside_export.architectures.packed_decoder.layer import Matrices, Norm, Norms, PackedLayer
from nearside_export.architectures.packed_decoder.linear import PackedMatrix
from nearside_export.architectures.packed_decoder.model import PackedDecoder
from nearside_export.manifest.variant import KvCache
from nearside_export.quantise.rounded import Rounded

ATTENTION = ("self_attn.q_proj", "self_attn.k_proj", "self_attn.v_proj")
MLP = ("mlp.gate_proj", "mlp.up_proj")


def packed(
    model: Decoder,
    weights: Mapping[str, Rounded],
    table: Rounded,
    head: Rounded | None,
    cache: KvCache,
) -> PackedDecoder:
    """Pack ``model``, whose linear layers ``layers.…`` are in ``weights``.

    ``table`` is the embedding table, ``head`` the head's weight, or null where that is the table.
    Norms and biases are the model's own. `UnsupportedError` for what can't be packed.
    """
    config = model.config
    layers = [
        PackedLayer(
            config,
            config.layers[index],
            layer.self_attn.kind,
            model.context_length,
            cache,
            _matrices(layer, f"layers.{index}", weights),
            _norms(layer),
        )
        for index, layer in enumerate(model.layers)
    ]
    return PackedDecoder(
        config,
        model.context_length,
        PackedMatrix([table]),
        layers,
        Norm(model.norm),
        None if head is None else PackedMatrix([head]),
    ).eval()


def _matrices(layer: Layer, name: str, weights: Mapping[str, Rounded]) -> Matrices:
    def matrix(*names: str) -> PackedMatrix:
        biases = [layer.get_submodule(n).bias for n in names]
        return PackedMatrix([weights[f"{name}.{n}"] for n in names], _together(biases))

    return Matrices(
        qkv=matrix(*ATTENTION),
        o=matrix("self_attn.o_proj"),
        gate_up=matrix(*MLP),
        down=matrix("mlp.down_proj"),
    )


def _together(biases: Sequence[torch.nn.Parameter | None]) -> torch.Tensor | None:
    there = [bias.detach() for bias in biases if bias is not None]
    return torch.cat(there) if len(there) == len(biases) else None


def _norms(layer: Layer) -> Norms:
    def norm(module: RmsNorm | None) -> Norm | None:
        return None if module is None else Norm(module)

    attention, after = layer.self_attn, layer.post_attention_layernorm
    return Norms(
        attention_in=Norm(layer.input_layernorm),
        mlp_in=Norm(layer.pre_feedforward_layernorm if layer.sandwich else after),
        attention_out=norm(after if layer.sandwich else None),
        mlp_out=norm(layer.post_feedforward_layernorm if layer.sandwich else None),
        query=norm(attention.q_norm if attention.qk_norm else None),
        key=norm(attention.k_norm if attention.qk_norm else None),
    )
