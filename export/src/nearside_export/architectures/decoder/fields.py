"""What the families' configurations have in common."""

from __future__ import annotations

from nearside_export.architectures.decoder.config import Llama3Scaling, Rope
from nearside_export.errors import SourceError, UnsupportedError
from nearside_export.sources.fields import Fields

ACTIVATIONS = {"silu": "silu", "swish": "silu", "gelu_pytorch_tanh": "gelu_tanh"}
ROPE_TYPES = ("default", "linear", "llama3", "factors")
"""``factors`` is this exporter's own, for GGUF files."""

MAX_LAYERS = 1024
_ROPE_FIELDS = {
    "default": set(),
    "linear": {"factor"},
    "llama3": {
        "factor",
        "low_freq_factor",
        "high_freq_factor",
        "original_max_position_embeddings",
    },
    "factors": {"factors"},
}
# Fields that older and newer transformers write beside those.
_ROPE_COMMON = {"type", "rope_type", "rope_theta"}


def refuse_foreign(config: Fields) -> None:
    """`UnsupportedError` for what changes a model's answers and that no family here has."""
    experts = "mixtures of experts can't be exported yet"
    for field in ("num_experts", "num_local_experts", "n_routed_experts", "num_experts_per_tok"):
        config.refuse(field, experts)
    config.refuse(
        "quantization_config",
        "the weights are quantised already. Give the full-precision folder or a GGUF file",
    )
    config.refuse("partial_rotary_factor", "partial rotary embeddings can't be exported", (1, 1.0))
    config.refuse("attn_logit_softcapping", "capped attention scores can't be exported", (0, 0.0))
    config.refuse("use_bidirectional_attention", "only causal decoders can be exported")


def activation(config: Fields, field: str, default: str | None = None) -> str:
    """Read the MLP's activation, by this package's name."""
    name = config.text(field) if default is None else config.text(field, default)
    if name not in ACTIVATIONS:
        raise UnsupportedError(
            f"{config.name(field)} is {name!r}, which can't be exported; "
            f"known: {', '.join(ACTIVATIONS)}"
        )
    return ACTIVATIONS[name]


def layer_count(config: Fields) -> int:
    """Read ``num_hidden_layers``."""
    count = config.integer("num_hidden_layers")
    if count > MAX_LAYERS:
        raise SourceError(
            f"{config.name('num_hidden_layers')} is {count}, more than {MAX_LAYERS}. "
            "Correct the file or fetch it again"
        )
    return count


def check_heads(config: Fields, heads: int, kv_heads: int, head_dim: int) -> None:
    """`SourceError` where heads don't share keys evenly or have no two halves."""
    if heads % kv_heads:
        raise SourceError(
            f"{config.name('num_attention_heads')} is {heads}, which is not a multiple of "
            f"num_key_value_heads, {kv_heads}. Correct the file or fetch it again"
        )
    if head_dim % 2:
        raise SourceError(
            f"{config.name('head_dim')} is {head_dim}, but rotary embeddings need an even one. "
            "Correct the file or fetch it again"
        )


def rope(config: Fields, head_dim: int) -> Rope:
    """Read the one RoPE of a model: ``rope_parameters``, or ``rope_theta`` and ``rope_scaling``."""
    parameters = config.child("rope_scaling", None) or config.child("rope_parameters", None)
    theta = config.number("rope_theta", None)
    if parameters is None:
        return Rope(theta=config.number("rope_theta"))
    return rope_from(parameters, theta, head_dim, config.integer("max_position_embeddings"))


def rope_from(parameters: Fields, theta: float | None, head_dim: int, max_context: int) -> Rope:
    """Read one RoPE's object; ``theta`` is for those that don't state it themselves."""
    kind = parameters.text("rope_type", None) or parameters.text("type", "default")
    if kind not in ROPE_TYPES:
        raise UnsupportedError(
            f"{parameters.name('rope_type')} is {kind!r}, which can't be exported; "
            "known: default, linear, llama3"
        )
    parameters.refuse("partial_rotary_factor", "partial rotary embeddings can't be exported", (1,))
    known = _ROPE_COMMON | _ROPE_FIELDS[kind] | {"partial_rotary_factor"}
    for field in parameters:
        if field not in known:
            parameters.refuse(field, f"not a field of rope type {kind!r} that is understood")
    theta = parameters.number("rope_theta", theta)
    if theta is None:
        parameters.number("rope_theta")  # raises: missing
    if kind == "linear":
        return Rope(theta=theta, linear=parameters.number("factor"))
    if kind == "factors":
        factors = parameters.numbers("factors")
        if len(factors) != head_dim // 2 or min(factors) <= 0:
            raise SourceError(
                f"{parameters.name('factors')} must be {head_dim // 2} positive numbers. "
                "Fetch the file again"
            )
        return Rope(theta=theta, factors=tuple(factors))
    if kind == "default":
        return Rope(theta=theta)
    low, high = parameters.number("low_freq_factor"), parameters.number("high_freq_factor")
    if high <= low:
        raise SourceError(
            f"{parameters.name('high_freq_factor')} is {high}, but must be above "
            f"low_freq_factor, {low}. Correct the file or fetch it again"
        )
    original = parameters.integer("original_max_position_embeddings", max_context)
    scaling = Llama3Scaling(parameters.number("factor"), low, high, original)
    return Rope(theta=theta, llama3=scaling)
