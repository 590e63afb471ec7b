"""``nearside::add_rms_norm``: a residual sum and the norm of it, in one pass.

``x`` and ``delta`` f32 ``[..., D]``, ``weight`` f32 ``[D]``: ``sum = x + delta`` and
``normed = rms_norm(sum)``, both of that shape.
"""

from __future__ import annotations

import torch

from nearside_export.ops.definition import define, require_tensor
from nearside_export.ops.rms_norm import check, normalised

NAME = "nearside::add_rms_norm"
ARGUMENTS = "Tensor x, Tensor delta, Tensor weight, float eps"


def add_rms_norm(
    x: torch.Tensor, delta: torch.Tensor, weight: torch.Tensor, *, eps: float
) -> tuple[torch.Tensor, torch.Tensor]:
    """Add and normalise; ``RuntimeError`` for shapes or types that don't fit together."""
    return torch.ops.nearside.add_rms_norm(x, delta, weight, float(eps))


def _eager(
    x: torch.Tensor, delta: torch.Tensor, weight: torch.Tensor, eps: float
) -> tuple[torch.Tensor, torch.Tensor]:
    _check(x, delta, weight)
    total = x + delta
    return total, normalised(total, weight, eps)


def _fake(
    x: torch.Tensor, delta: torch.Tensor, weight: torch.Tensor, eps: float
) -> tuple[torch.Tensor, torch.Tensor]:
    del eps
    _check(x, delta, weight)
    return x.new_empty(x.shape), x.new_empty(x.shape)


def _check(x: torch.Tensor, delta: torch.Tensor, weight: torch.Tensor) -> None:
    check("add_rms_norm", x, weight)
    require_tensor("add_rms_norm", "delta", delta, torch.float32, x.dim())
    for found, wanted in zip(delta.shape, x.shape, strict=True):
        torch._check(found == wanted, lambda: f"{NAME}: delta must have the shape of x")


define("add_rms_norm", ARGUMENTS, _eager, _fake, ("sum", "normed"))
