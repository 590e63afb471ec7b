"""An encoder, its pooling and its normalising: token ids to one vector."""

from __future__ import annotations

import torch

from nearside_export.architectures.encoder.config import EncoderConfig
from nearside_export.architectures.encoder.layer import Layer
from nearside_export.architectures.encoder.norm import LayerNorm


class Encoder(torch.nn.Module):
    """Token ids i64 ``[1, S]`` to the last layer's output f32 ``[S, width]``.

    S is 1 to ``max_tokens``. Positions and token type 0 are one table, added to the words.
    ``distance`` f32 ``[2 max_tokens - 1, heads]`` is there where attention has a bias by distance:
    row ``max_tokens - 1 + to - from``.
    """

    def __init__(self, config: EncoderConfig, max_tokens: int) -> None:
        super().__init__()
        self.width = config.hidden_size
        self.embedding = torch.nn.Embedding(config.vocab_size, config.hidden_size)
        self.position = torch.nn.Parameter(torch.empty(max_tokens, config.hidden_size))
        if config.relative_buckets:
            self.distance = torch.nn.Parameter(torch.empty(2 * max_tokens - 1, config.heads))
        self.norm = LayerNorm(config.hidden_size, config.norm_eps)
        self.layers = torch.nn.ModuleList(Layer(config) for _ in range(config.layers))

    def forward(self, tokens: torch.Tensor) -> torch.Tensor:
        """Return a vector a token."""
        x = self.embedding(tokens).view(-1, self.width) + self.position[: tokens.shape[1]]
        x = self.norm(x)
        bias = self._bias(tokens.shape[1]) if hasattr(self, "distance") else None
        for layer in self.layers:
            x = layer(x, bias)
        return x

    def _bias(self, count: int) -> torch.Tensor:
        """f32 ``[heads, count, count]``, the same in every layer."""
        place = torch.arange(count)
        row = place.unsqueeze(0) - place.unsqueeze(1) + len(self.position) - 1
        return torch.nn.functional.embedding(row, self.distance).permute(2, 0, 1)


class Embedder(torch.nn.Module):
    """Token ids i64 ``[1, S]`` to an embedding f32 ``[1, width]``.

    ``pooling`` is ``mean``, ``cls`` (the first token) or ``last``; with ``normalize`` the embedding
    has length 1.
    """

    def __init__(self, encoder: Encoder, width: int, pooling: str, normalize: bool) -> None:
        super().__init__()
        self.encoder = encoder
        self.pooling = pooling
        self.normalize = normalize
        self.register_buffer("ones", torch.ones(width, 1), persistent=False)

    def forward(self, tokens: torch.Tensor) -> torch.Tensor:
        """Return the embedding of one text."""
        pooled = self._pool(self.encoder(tokens))
        if not self.normalize:
            return pooled
        # As torch.nn.functional.normalize, whose smallest length is 1e-12: the square of that is
        # too small to be a usual f32.
        square = torch.mm(pooled * pooled, self.ones).clamp(min=1e-24)
        return pooled * torch.rsqrt(square)

    def _pool(self, x: torch.Tensor) -> torch.Tensor:
        if self.pooling == "cls":
            return x[:1]
        if self.pooling == "last":
            return x[-1:]
        return _mean_of_rows(x)


def _mean_of_rows(x: torch.Tensor) -> torch.Tensor:
    """f32 ``[S, width]`` to ``[1, width]``: XNNPACK has it as the pooling of a picture S wide."""
    width = x.shape[1]
    picture = x.permute(1, 0).contiguous().view(1, width, 1, -1)
    return torch.mean(picture, dim=(2, 3), keepdim=True).view(1, width)
