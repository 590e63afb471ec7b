"""What a decoder is made of. Families fill it in; the modules read nothing else."""

from __future__ import annotations

from dataclasses import dataclass

ACTIVATIONS = ("silu", "gelu_tanh")


@dataclass(frozen=True)
class Llama3Scaling:
    """Llama 3.1's RoPE scaling: long wavelengths are stretched, short ones kept."""

    factor: float
    low_freq_factor: float
    high_freq_factor: float
    original_context: int


@dataclass(frozen=True)
class Rope:
    """Rotary position embedding of one kind of layer.

    ``linear`` divides every frequency; ``llama3`` as there; ``factors`` (``head_dim / 2`` numbers,
    as GGUF files store them) divide the frequencies one by one.
    """

    theta: float
    linear: float = 1.0
    llama3: Llama3Scaling | None = None
    factors: tuple[float, ...] | None = None


@dataclass(frozen=True)
class LayerConfig:
    """``window``: positions that a token sees, its own included; 0 is all of them."""

    rope: Rope
    window: int = 0


@dataclass(frozen=True)
class DecoderConfig:
    """Sizes, and the choices in which the families differ.

    ``query_scale`` multiplies the scores before the softmax, ``embedding_scale`` the token
    embeddings. ``norm_offset`` is added to the norms' weights as they are stored (Gemma: 1).
    ``sandwich_norms``: attention and MLP outputs are normalised too, before the residual sum.
    ``logit_softcap`` c gives ``c * tanh(logits / c)``; 0 is none. ``max_context`` is the longest
    context that the model was made for, in tokens.
    """

    family: str
    vocab_size: int
    hidden_size: int
    intermediate_size: int
    heads: int
    kv_heads: int
    head_dim: int
    layers: tuple[LayerConfig, ...]
    max_context: int
    norm_eps: float
    query_scale: float
    activation: str = "silu"
    embedding_scale: float = 1.0
    norm_offset: float = 0.0
    sandwich_norms: bool = False
    qk_norm: bool = False
    attention_bias: bool = False
    mlp_bias: bool = False
    logit_softcap: float = 0.0
    tied: bool = False

    @property
    def sliding_window(self) -> int | None:
        """The window of the sliding layers; null where all layers see everything."""
        return max((layer.window for layer in self.layers), default=0) or None
