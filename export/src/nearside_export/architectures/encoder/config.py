"""What an encoder is built of."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class EncoderConfig:
    """Sizes and choices of an encoder.

    ``positions`` rows of the position table, of which ``position_offset`` are never used (RoBERTa
    keeps them for padding); ``token_types`` rows of the token type table, 0 where there is none:
    a single text is of type 0. ``relative_buckets`` of distances between tokens have a bias of
    their own, 0 where attention knows no distances. ``activation`` is ``gelu``, ``gelu_tanh`` or
    ``relu``.
    """

    family: str
    vocab_size: int
    hidden_size: int
    intermediate_size: int
    heads: int
    layers: int
    positions: int
    position_offset: int
    token_types: int
    norm_eps: float
    activation: str
    relative_buckets: int = 0

    @property
    def head_dim(self) -> int:
        """Width of a head."""
        return self.hidden_size // self.heads

    @property
    def max_tokens(self) -> int:
        """The longest text that has a position for each token."""
        return self.positions - self.position_offset
