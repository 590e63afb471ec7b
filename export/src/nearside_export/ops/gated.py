"""``nearside::gated``: the activation of a gated MLP.

``x`` f32 ``[1, S, 2 * I]``, in each row the gate and then what it gates, to f32 ``[1, S, I]``:
``act(gate) * up``. ``activation`` is ``silu`` or ``gelu_tanh``.
"""

from __future__ import annotations

import torch
from torch.nn import functional

from nearside_export.ops.definition import define, require, require_tensor

NAME = "nearside::gated"
ARGUMENTS = "Tensor x, str activation"

ACTIVATIONS = ("silu", "gelu_tanh")


def gated(x: torch.Tensor, activation: str) -> torch.Tensor:
    """Activate; ``RuntimeError`` for shapes, types or activations that are not known."""
    return torch.ops.nearside.gated(x, activation)


def _eager(x: torch.Tensor, activation: str) -> torch.Tensor:
    _check(x, activation)
    gate, up = x.chunk(2, dim=-1)
    active = functional.silu(gate)
    if activation == "gelu_tanh":
        active = functional.gelu(gate, approximate="tanh")
    return active * up


def _fake(x: torch.Tensor, activation: str) -> torch.Tensor:
    _check(x, activation)
    return x.new_empty(1, x.shape[1], x.shape[2] // 2)


def _check(x: torch.Tensor, activation: str) -> None:
    require_tensor("gated", "x", x, torch.float32, 3)
    require("gated", x.shape[0] == 1, f"the batch is {x.shape[0]}, not 1")
    require("gated", x.shape[2] % 2 == 0, f"rows of {x.shape[2]} numbers have no two halves")
    known = ", ".join(ACTIVATIONS)
    require(
        "gated", activation in ACTIVATIONS, f"unknown activation {activation!r}; known: {known}"
    )


define("gated", ARGUMENTS, _eager, _fake)
