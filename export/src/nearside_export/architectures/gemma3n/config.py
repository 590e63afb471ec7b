"""The facts about a Gemma 3n text decoder that its modules are built from."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from nearside_export.architectures.decoder.config import LayerConfig, Rope
from nearside_export.errors import SourceError, UnsupportedError

if TYPE_CHECKING:
    from transformers import Gemma3nTextConfig

SLIDING = "sliding_attention"
FULL = "full_attention"


@dataclass(frozen=True)
class Config:
    """Sizes and switches; tuples have one entry a layer.

    ``layers`` says how each attends; the last ``shared_kv_layers`` use the keys and values of the
    last layer before them that attends in the same way. ``sparsity``: see :mod:`.sparsity`.
    """

    vocab_size: int
    per_layer_vocab_size: int
    hidden_size: int
    per_layer_size: int
    heads: int
    kv_heads: int
    head_dim: int
    intermediate_sizes: tuple[int, ...]
    layers: tuple[LayerConfig, ...]
    max_context: int
    norm_eps: float
    altup_inputs: int
    altup_active: int
    altup_correct_scale: bool
    laurel_rank: int
    shared_kv_layers: int
    sparsity: tuple[float, ...]
    logit_softcap: float | None
    attention_bias: bool
    tied: bool
    query_scale: float = 1.0

    @property
    def first_shared(self) -> int:
        """Layers from this one on have no keys and values of their own."""
        return len(self.layers) - self.shared_kv_layers

    @property
    def sliding_window(self) -> int | None:
        """The window of the sliding layers; null where all layers see everything."""
        return max((layer.window for layer in self.layers), default=0) or None

    def kv_source(self, layer: int) -> int:
        """Give the layer whose keys and values ``layer`` attends to."""
        if layer < self.first_shared:
            return layer
        kind = self.layers[layer]
        return max(i for i in range(self.first_shared) if self.layers[i] == kind)

    @classmethod
    def from_transformers(cls, config: Gemma3nTextConfig) -> Config:
        """Take the facts from transformers' config.

        `UnsupportedError` names a setting that this decoder does not compute, `SourceError` one
        that can't be.
        """
        if config.hidden_activation != "gelu_pytorch_tanh":
            raise _unsupported("hidden_activation", config.hidden_activation, "gelu_pytorch_tanh")
        layers = _layers(config)
        own = layers[: len(layers) - config.num_kv_shared_layers]
        if not own or set(layers) - set(own):
            raise SourceError(
                f"num_kv_shared_layers is {config.num_kv_shared_layers}, but no earlier layer "
                "attends as some of those do, so that there are no keys and values for them. "
                "Correct config.json or fetch it again"
            )
        sparsity = tuple(float(s) for s in config.activation_sparsity_pattern)
        if not all(0.0 <= s < 1.0 for s in sparsity):
            raise SourceError(
                f"activation_sparsity_pattern is {list(sparsity)}, but must be from 0 to below 1. "
                "Correct config.json or fetch it again"
            )
        return cls(
            vocab_size=config.vocab_size,
            per_layer_vocab_size=config.vocab_size_per_layer_input,
            hidden_size=config.hidden_size,
            per_layer_size=config.hidden_size_per_layer_input,
            heads=config.num_attention_heads,
            kv_heads=config.num_key_value_heads,
            head_dim=config.head_dim,
            intermediate_sizes=tuple(config.intermediate_size),
            layers=layers,
            max_context=config.max_position_embeddings,
            norm_eps=config.rms_norm_eps,
            altup_inputs=config.altup_num_inputs,
            altup_active=config.altup_active_idx,
            altup_correct_scale=config.altup_correct_scale,
            laurel_rank=config.laurel_rank,
            shared_kv_layers=config.num_kv_shared_layers,
            sparsity=sparsity,
            logit_softcap=config.final_logit_softcapping,
            attention_bias=config.attention_bias,
            tied=config.tie_word_embeddings,
        )


def _layers(config: Gemma3nTextConfig) -> tuple[LayerConfig, ...]:
    if unknown := set(config.layer_types) - {SLIDING, FULL}:
        raise _unsupported("layer_types", sorted(unknown), f"{SLIDING} and {FULL}")
    kinds = {}
    for kind in (SLIDING, FULL):
        rope = config.rope_parameters[kind]
        if rope["rope_type"] not in ("default", "linear"):
            raise _unsupported(f"rope_type of {kind}", rope["rope_type"], "default, linear")
        kinds[kind] = LayerConfig(
            Rope(float(rope["rope_theta"]), linear=float(rope.get("factor", 1.0))),
            window=config.sliding_window if kind == SLIDING else 0,
        )
    return tuple(kinds[kind] for kind in config.layer_types)


def _unsupported(name: str, value: object, known: str) -> UnsupportedError:
    return UnsupportedError(f"Gemma 3n with {name} {value!r} can't be exported; supported: {known}")
