"""``nearside::rms_norm``: root mean square norm over the last dimension.

``x`` f32 ``[..., D]``, ``weight`` f32 ``[D]``: ``x / sqrt(mean(x^2) + eps) * weight``.
"""

from __future__ import annotations

import torch

from nearside_export.ops.definition import define, require, require_tensor

NAME = "nearside::rms_norm"
ARGUMENTS = "Tensor x, Tensor weight, float eps"


def rms_norm(x: torch.Tensor, weight: torch.Tensor, *, eps: float) -> torch.Tensor:
    """Normalise; ``RuntimeError`` for shapes or types that don't fit together."""
    return torch.ops.nearside.rms_norm(x, weight, float(eps))


def normalised(x: torch.Tensor, weight: torch.Tensor, eps: float) -> torch.Tensor:
    """Compute it with plain operators."""
    return x * torch.rsqrt(x.square().mean(-1, keepdim=True) + eps) * weight


def check(name: str, x: torch.Tensor, weight: torch.Tensor) -> None:
    """``RuntimeError`` unless ``weight`` is one for rows of ``x``."""
    require_tensor(name, "x", x, torch.float32, None)
    require_tensor(name, "weight", weight, torch.float32, 1)
    size = x.shape[-1]
    require(name, weight.shape[0] == size, f"weight has {weight.shape[0]} numbers, not {size}")


def _eager(x: torch.Tensor, weight: torch.Tensor, eps: float) -> torch.Tensor:
    check("rms_norm", x, weight)
    return normalised(x, weight, eps)


def _fake(x: torch.Tensor, weight: torch.Tensor, eps: float) -> torch.Tensor:
    del eps
    check("rms_norm", x, weight)
    return x.new_empty(x.shape)


define("rms_norm", ARGUMENTS, _eager, _fake)
