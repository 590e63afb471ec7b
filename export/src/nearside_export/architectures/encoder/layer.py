"""One layer: attention of every token to every other, and a network of each token alone."""

from __future__ import annotations

import torch

from nearside_export.architectures.encoder.config import EncoderConfig
from nearside_export.architectures.encoder.norm import LayerNorm

ACTIVATIONS = {
    "gelu": torch.nn.GELU,
    "gelu_tanh": lambda: torch.nn.GELU("tanh"),
    "relu": torch.nn.ReLU,
}


class Attention(torch.nn.Module):
    """f32 ``[tokens, width]`` to the same: without mask, for a whole text.

    Shapes have no batch, so that each reshape has one free dimension: XNNPACK takes no more.
    """

    def __init__(self, config: EncoderConfig) -> None:
        super().__init__()
        width = config.hidden_size
        self.heads, self.head_dim = config.heads, config.head_dim
        self.query = torch.nn.Linear(width, width)
        self.key = torch.nn.Linear(width, width)
        self.value = torch.nn.Linear(width, width)
        self.out = torch.nn.Linear(width, width)

    def forward(self, x: torch.Tensor, bias: torch.Tensor | None = None) -> torch.Tensor:
        """Return what each token gathers from all; ``bias`` f32 ``[heads, tokens, tokens]``."""
        # 1 / sqrt(head_dim) is in the query's weights (see `scale_queries`).
        query = self._split(self.query(x)).permute(1, 0, 2)
        key = self._split(self.key(x)).permute(1, 2, 0)
        value = self._split(self.value(x)).permute(1, 0, 2)
        scores = torch.bmm(query, key)
        if bias is not None:
            scores = scores + bias
        gathered = torch.bmm(torch.softmax(scores, dim=-1), value).permute(1, 0, 2)
        return self.out(gathered.contiguous().view(-1, self.heads * self.head_dim))

    def scale_queries(self) -> None:
        """Fold the scale of the scores into the query's weights, once they are loaded."""
        scale = self.head_dim**-0.5
        for name in ("weight", "bias"):
            # Not in place: the tensor may be the mapped file's, which the next load reads again.
            scaled = getattr(self.query, name).detach() * scale
            setattr(self.query, name, torch.nn.Parameter(scaled, requires_grad=False))

    def _split(self, x: torch.Tensor) -> torch.Tensor:
        return x.view(-1, self.heads, self.head_dim)


class Layer(torch.nn.Module):
    """f32 ``[tokens, width]`` to the same; normalised after each addition, as in BERT."""

    def __init__(self, config: EncoderConfig) -> None:
        super().__init__()
        self.attention = Attention(config)
        self.attention_norm = LayerNorm(config.hidden_size, config.norm_eps)
        self.up = torch.nn.Linear(config.hidden_size, config.intermediate_size)
        self.activation = ACTIVATIONS[config.activation]()
        self.down = torch.nn.Linear(config.intermediate_size, config.hidden_size)
        self.norm = LayerNorm(config.hidden_size, config.norm_eps)

    def forward(self, x: torch.Tensor, bias: torch.Tensor | None = None) -> torch.Tensor:
        """Return the layer's output; ``bias`` is the attention's."""
        x = self.attention_norm(x + self.attention(x, bias))
        return self.norm(x + self.down(self.activation(self.up(x))))
