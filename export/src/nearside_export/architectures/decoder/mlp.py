"""The gated MLP."""

from __future__ import annotations

import torch
from torch.nn import functional

from nearside_export.architectures.decoder.config import DecoderConfig


class Mlp(torch.nn.Module):
    """``down(act(gate(x)) * up(x))`` on f32 ``[1, S, hidden]``."""

    def __init__(self, config: DecoderConfig) -> None:
        super().__init__()
        hidden, inner, bias = config.hidden_size, config.intermediate_size, config.mlp_bias
        self.gate_proj = torch.nn.Linear(hidden, inner, bias=bias)
        self.up_proj = torch.nn.Linear(hidden, inner, bias=bias)
        self.down_proj = torch.nn.Linear(inner, hidden, bias=bias)
        self.activation = config.activation

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        """Return f32 ``[1, S, hidden]``."""
        act = functional.silu if self.activation == "silu" else gelu_tanh
        return self.down_proj(act(self.gate_proj(x)) * self.up_proj(x))


def gelu_tanh(x: torch.Tensor) -> torch.Tensor:
    """GELU by its tanh formula; lowering spells it out (`lower.tanh_gelu`)."""
    return functional.gelu(x, approximate="tanh")
