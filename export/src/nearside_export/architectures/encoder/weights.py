"""Weights into an encoder, by Hugging Face's names, every shape checked."""

from __future__ import annotations

import math
import re
from collections.abc import Iterator

import torch

from nearside_export.architectures.encoder.config import EncoderConfig
from nearside_export.architectures.encoder.families import Family, Names
from nearside_export.architectures.encoder.layer import Attention
from nearside_export.architectures.encoder.model import Encoder
from nearside_export.errors import SourceError
from nearside_export.sources.model import Tensors

_WORDS = "embeddings.word_embeddings.weight"
_POSITIONS = "embeddings.position_embeddings.weight"
_TYPES = "embeddings.token_type_embeddings.weight"
_NORM = "embeddings.LayerNorm"
_DISTANCES = "encoder.relative_attention_bias.weight"
_FARTHEST = 128
"""Tokens that are further apart share a bias; transformers has it in the code."""

_UNUSED = re.compile(
    r"(.*\.)?(pooler|cls|lm_head|vocab_transform|vocab_layer_norm|vocab_projector|classifier|"
    r"pre_classifier|qa_outputs|embeddings\.(position_ids|token_type_ids))(\..*)?"
)
"""Heads for other tasks, and buffers that older versions saved."""


def load(family: Family, config: EncoderConfig, tensors: Tensors, max_tokens: int) -> Encoder:
    """Build an encoder in eval mode with the weights of ``tensors``, f32.

    `SourceError` for a tensor that is missing, has another shape than ``config`` says, or that the
    encoder has no place for.
    """
    reader = _Reader(tensors, family.prefix)
    # Weights are not initialised only to be replaced.
    with torch.device("meta"):
        encoder = Encoder(config, max_tokens)
    state = {"position": _positions(reader, config)[:max_tokens].clone()}
    if config.relative_buckets:
        state["distance"] = _distances(reader, config, max_tokens)
    shapes = {name: tuple(p.shape) for name, p in encoder.named_parameters()}
    for name, source in _sources(family.names, config.layers):
        state[name] = reader.load(source, shapes[name])
    reader.refuse_unused()
    for name, tensor in state.items():
        parent, _, last = name.rpartition(".")
        parameter = torch.nn.Parameter(tensor, requires_grad=False)
        setattr(encoder.get_submodule(parent), last, parameter)
    for module in encoder.modules():
        if isinstance(module, Attention):
            module.scale_queries()
    return encoder.eval()


def _positions(reader: _Reader, config: EncoderConfig) -> torch.Tensor:
    """Each position's vector, with that of token type 0: f32 ``[max_tokens, width]``."""
    table = reader.load(_POSITIONS, (config.positions, config.hidden_size))
    table = table[config.position_offset :]
    if config.token_types:
        table = table + reader.load(_TYPES, (config.token_types, config.hidden_size))[0]
    return table


def _distances(reader: _Reader, config: EncoderConfig, max_tokens: int) -> torch.Tensor:
    """Bias by distance, f32 ``[2 max_tokens - 1, heads]``, of the table by bucket."""
    table = reader.load(_DISTANCES, (config.relative_buckets, config.heads))
    distance = torch.arange(1 - max_tokens, max_tokens)
    half = config.relative_buckets // 2
    exact = half // 2
    far = distance.abs().clamp(min=1).float()
    # Each distance has a bucket of its own up to `exact`, then they widen up to the farthest.
    wide = torch.log(far / exact) / math.log(_FARTHEST / exact) * (half - exact)
    wide = (exact + wide.long()).clamp(max=half - 1)
    bucket = torch.where(distance.abs() < exact, distance.abs(), wide)
    return table[bucket + half * (distance > 0)]


def _sources(names: Names, layers: int) -> Iterator[tuple[str, str]]:
    """Name of every parameter but the positions, and of its tensor in a checkpoint."""
    yield "embedding.weight", _WORDS
    own = {
        "attention.query": names.query,
        "attention.key": names.key,
        "attention.value": names.value,
        "attention.out": names.out,
        "attention_norm": names.attention_norm,
        "up": names.up,
        "down": names.down,
        "norm": names.norm,
    }
    for kind in ("weight", "bias"):
        yield f"norm.{kind}", f"{_NORM}.{kind}"
        for layer in range(layers):
            for name, source in own.items():
                yield f"layers.{layer}.{name}.{kind}", f"{names.layer}.{layer}.{source}.{kind}"


class _Reader:
    """Reads tensors by names without the prefix, and knows which were never asked for."""

    def __init__(self, tensors: Tensors, prefix: str) -> None:
        self.tensors = tensors
        self.names = set(tensors.names())
        self.prefix = prefix if f"{prefix}{_WORDS}" in self.names else ""
        self.left = set(self.names)

    def load(self, name: str, want: tuple[int, ...]) -> torch.Tensor:
        """Read a tensor of the shape ``want`` as f32."""
        name = self._existing(f"{self.prefix}{name}")
        shape = self.tensors.shape(name)
        if shape != want:
            raise SourceError(
                f"tensor {name!r} has shape {list(shape)}, but the configuration asks for "
                f"{list(want)}: configuration and weights belong to different models"
            )
        self.left.discard(name)
        return self.tensors.load(name)

    def _existing(self, name: str) -> str:
        # As TensorFlow called them, and the oldest checkpoints still do.
        older = name.replace("LayerNorm.weight", "LayerNorm.gamma")
        older = older.replace("LayerNorm.bias", "LayerNorm.beta")
        for known in (name, older):
            if known in self.names:
                return known
        raise SourceError(
            f"tensor {name!r} is missing from the weights. A shard may be missing, or the "
            "configuration has more layers than the weights"
        )

    def refuse_unused(self) -> None:
        """`SourceError` for weights that would silently count for nothing."""
        unknown = sorted(name for name in self.left if not _UNUSED.fullmatch(name))
        if unknown:
            raise SourceError(
                f"the weights hold {unknown[0]!r}{_more(unknown)}, which the configuration has no "
                "place for: configuration and weights belong to different models"
            )


def _more(names: list[str]) -> str:
    return f" and {len(names) - 1} more" if len(names) > 1 else ""
