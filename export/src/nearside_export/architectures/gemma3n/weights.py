"""From transformers' parameter names to ours."""

from __future__ import annotations

import re
from collections.abc import Mapping
from pathlib import Path

import torch

from nearside_export.architectures.gemma3n.config import Config
from nearside_export.architectures.gemma3n.model import Gemma3n
from nearside_export.errors import SourceError

_PREFIXES = ("model.language_model.", "language_model.model.", "language_model.", "model.")

_OTHER_PARTS = (
    "model.vision_tower.",
    "model.audio_tower.",
    "model.embed_vision.",
    "model.embed_audio.",
)

_RENAMES = (
    (r"^embed_tokens\.", "token_embedding.embedding."),
    (r"^embed_tokens_per_layer\.", "per_layer_embedding.per_layer_table."),
    (r"^per_layer_model_projection\.", "text_decoder.per_layer_inputs.projection."),
    (r"^per_layer_projection_norm\.", "text_decoder.per_layer_inputs.norm."),
    (r"^altup_projections\.", "text_decoder.expand.projections."),
    (r"^altup_unembed_projections\.", "text_decoder.collapse.projections."),
    (
        r"^layers\.(\d+)\.(per_layer_input_gate|per_layer_projection|post_per_layer_input_norm)\.",
        r"text_decoder.layers.\1.per_layer.\2.",
    ),
    (r"^layers\.", "text_decoder.layers."),
    (r"^norm\.", "text_decoder.norm."),
    (r"^lm_head\.", "text_decoder.lm_head."),
)

_UNUSED_WHERE_SHARED = re.compile(r"layers\.(\d+)\.self_attn\.(k_proj|v_proj|k_norm|v_norm)\.")


def load(
    config: Config,
    context_length: int,
    weights: Mapping[str, torch.Tensor],
    attention: str = "plain",
) -> Gemma3n:
    """Build the model around ``weights``, which are shared, not copied, where they are f32.

    `SourceError` names the parameters that are missing, left over or of another shape.
    """
    # Without memory: what is built here is replaced by the weights. Buffers are on the CPU.
    with torch.device("meta"):
        model = Gemma3n(config, context_length, attention)
    renamed = {
        ours: tensor.detach().float()
        for name, tensor in weights.items()
        if (ours := _ours(config, name)) is not None
    }
    head, table = "text_decoder.lm_head.weight", "token_embedding.embedding.weight"
    if config.tied and table in renamed:
        renamed[head] = renamed[table]
    _unstack(renamed, config)
    for i in range(config.first_shared):
        renamed[f"text_decoder.layers.{i}.self_attn.v_norm.weight"] = torch.ones(config.head_dim)
    expected = model.state_dict()
    _refuse("lacks", sorted(expected.keys() - renamed.keys()))
    _refuse("has, unknown to Gemma 3n,", sorted(renamed.keys() - expected.keys()))
    for name, tensor in renamed.items():
        if tensor.shape != expected[name].shape:
            raise SourceError(
                f"{name} has the shape {list(tensor.shape)}, the config asks for "
                f"{list(expected[name].shape)}: config.json and weights do not belong together"
            )
    model.load_state_dict(renamed, assign=True)
    model.tie()
    return model.eval().requires_grad_(False)


def _ours(config: Config, name: str) -> str | None:
    """Our name of a parameter; None for the image and audio parts and what a layer never uses."""
    if name != "lm_head.weight":
        prefix = next((p for p in _PREFIXES if name.startswith(p)), None)
        if prefix is None or name.startswith(_OTHER_PARTS):
            return None
        name = name.removeprefix(prefix)
    found = _UNUSED_WHERE_SHARED.match(name)
    if found and int(found[1]) >= config.first_shared:
        return None
    for pattern, replacement in _RENAMES:
        ours, count = re.subn(pattern, replacement, name)
        if count:
            return ours
    return name


def _unstack(weights: dict[str, torch.Tensor], config: Config) -> None:
    """Split AltUp's coefficients: one matrix for each stream that comes out."""
    for name in [n for n in weights if n.endswith("_coefs.weight")]:
        stem = name.removesuffix("weight")
        for i, part in enumerate(weights.pop(name).chunk(config.altup_inputs)):
            weights[f"{stem}{i}.weight"] = part


def _refuse(what: str, names: list[str]) -> None:
    if names:
        shown = ", ".join(names[:5]) + (f" and {len(names) - 5} more" if len(names) > 5 else "")
        raise SourceError(f"the checkpoint {what} {shown}: it does not belong to its config.json")


def load_file(config: Config, context_length: int, path: Path) -> Gemma3n:
    """`load` from one safetensors file."""
    from safetensors.torch import load_file as read

    return load(config, context_length, read(path))
