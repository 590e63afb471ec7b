"""Weights into a decoder, by Hugging Face's names, every shape checked."""

from __future__ import annotations

import torch

from nearside_export.architectures.decoder.config import DecoderConfig
from nearside_export.architectures.decoder.model import Decoder
from nearside_export.architectures.decoder.norm import RmsNorm
from nearside_export.errors import ExportError, SourceError
from nearside_export.sources.model import Tensors

PREFIXES = ("model.language_model.", "language_model.model.", "model.", "")
"""Where checkpoints keep the text model: multimodal ones first."""

HEADS = ("lm_head.weight", "language_model.lm_head.weight")


def load(
    config: DecoderConfig, tensors: Tensors, context_length: int, attention: str = "plain"
) -> Decoder:
    """Build a decoder in eval mode with the weights of ``tensors``, f32.

    `SourceError` for a tensor that is missing, has another shape than ``config`` says, or that the
    decoder has no place for.
    """
    names = set(tensors.names())
    _check_sizes(config, tensors, names)
    # Weights are not initialised only to be replaced: large models would need twice the memory.
    try:
        with torch.device("meta"):
            model = Decoder(config, context_length, attention)
    except RuntimeError as error:  # The caches are real.
        size = 8 * len(config.layers) * config.kv_heads * config.head_dim * context_length
        raise ExportError(
            f"a KV cache of {context_length} positions takes {size} bytes, which this machine does "
            "not have: choose a smaller --context"
        ) from error
    sources = source_names(model, names)
    _refuse_unused(names, set(sources.values()))
    norms = {id(m.weight) for m in model.modules() if isinstance(m, RmsNorm)}
    for name, parameter in list(model.named_parameters()):
        source = sources[name]
        _check(source, tensors, names, tuple(parameter.shape))
        weight = tensors.load(source)
        if config.norm_offset and id(parameter) in norms:
            weight = weight + config.norm_offset
        _assign(model, name, torch.nn.Parameter(weight, requires_grad=False))
    if config.tied:
        model.lm_head.weight = model.embedding.weight
        _check_tie(model, tensors, names)
    return model.eval()


def source_names(model: Decoder, names: set[str]) -> dict[str, str]:
    """Name of every parameter of ``model`` in a checkpoint that holds ``names``."""
    prefix = _prefix(names)
    head = next((h for h in HEADS if h in names), HEADS[0])
    special = {"embedding.weight": f"{prefix}embed_tokens.weight", "lm_head.weight": head}
    return {name: special.get(name, f"{prefix}{name}") for name, _ in model.named_parameters()}


def _prefix(names: set[str]) -> str:
    for prefix in PREFIXES:
        if f"{prefix}embed_tokens.weight" in names:
            return prefix
    raise SourceError(
        "the weights have no tensor 'model.embed_tokens.weight': a shard is missing, or they "
        "belong to another kind of model. Fetch the whole model again"
    )


def _check_sizes(config: DecoderConfig, tensors: Tensors, names: set[str]) -> None:
    """Hold the configuration's sizes to the weights before memory is taken for them."""
    prefix = _prefix(names)
    for name, shape in (
        ("embed_tokens.weight", (config.vocab_size, config.hidden_size)),
        (
            "layers.0.self_attn.q_proj.weight",
            (config.heads * config.head_dim, config.hidden_size),
        ),
    ):
        _check(f"{prefix}{name}", tensors, names, shape)


def _check(name: str, tensors: Tensors, names: set[str], want: tuple[int, ...]) -> None:
    if name not in names:
        hint = (
            "The configuration's tie_word_embeddings may be wrong"
            if name in HEADS
            else "A shard may be missing, or the configuration has more layers than the weights"
        )
        raise SourceError(f"tensor {name!r} is missing from the weights. {hint}")
    shape = tensors.shape(name)
    if shape != want:
        raise SourceError(
            f"tensor {name!r} has shape {list(shape)}, but the configuration asks for "
            f"{list(want)}: configuration and weights belong to different models"
        )


def _refuse_unused(names: set[str], used: set[str]) -> None:
    prefix = _prefix(names)
    for name in sorted(names - used - set(HEADS)):
        if name.startswith(prefix) and not name.endswith("rotary_emb.inv_freq"):
            raise SourceError(
                f"tensor {name!r} has no place in the model that the configuration describes: "
                "exporting without it would change the answers. Check the configuration's layers "
                "and biases"
            )


def _check_tie(model: Decoder, tensors: Tensors, names: set[str]) -> None:
    head = next((h for h in HEADS if h in names), None)
    if head is None:
        return
    same = tensors.shape(head) == tuple(model.embedding.weight.shape)
    if not same or not torch.equal(tensors.load(head), model.embedding.weight):
        raise SourceError(
            f"tie_word_embeddings says that head and embeddings are one, but tensor {head!r} "
            "differs from the embeddings. Set it to false in config.json, or remove the tensor"
        )


def _assign(model: torch.nn.Module, name: str, parameter: torch.nn.Parameter) -> None:
    path, _, leaf = name.rpartition(".")
    setattr(model.get_submodule(path), leaf, parameter)
