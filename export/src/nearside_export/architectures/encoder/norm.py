"""Layer normalisation of operators that XNNPACK has."""

from __future__ import annotations

import torch


class LayerNorm(torch.nn.Module):
    """Normalise each row of f32 ``[tokens, width]`` to mean 0 and variance 1, then scale and shift.

    Means are matrix products with a constant column, as XNNPACK takes neither layer normalisation
    nor means of rows: left outside, each of them would end a delegated part of the graph.
    """

    def __init__(self, width: int, eps: float) -> None:
        super().__init__()
        self.weight = torch.nn.Parameter(torch.empty(width))
        self.bias = torch.nn.Parameter(torch.empty(width))
        # On the CPU wherever the parameters are made: it is no weight that is loaded.
        mean = torch.full((width, 1), 1.0 / width, device="cpu")
        self.register_buffer("mean", mean, persistent=False)
        self.eps = eps

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        """Return the normalised rows."""
        centred = x - torch.mm(x, self.mean)
        variance = torch.mm(centred * centred, self.mean)
        return centred * torch.rsqrt(variance + self.eps) * self.weight + self.bias
