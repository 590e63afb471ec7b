"""Round to nearest; scales from the largest value, or for 4 bits of the least squared error."""

from __future__ import annotations

import torch

from nearside_export.quantise.integer_linear import LIMITS, Rounded
from nearside_export.quantise.rounding import SMALLEST_SCALE, bfloat16

SHRINK = torch.linspace(0.6, 1.05, 19)
"""Scales tried for 4 bits, as shares of the one that holds the largest value."""


def rows(weight: torch.Tensor) -> Rounded:
    """Round f32 ``[rows, columns]`` to 8 bits with a scale a row."""
    low, high = LIMITS[8]
    scales = (weight.abs().amax(1, keepdim=True) / high).clamp(min=SMALLEST_SCALE)
    return Rounded(8, torch.round(weight / scales).clamp(low, high).to(torch.int8), scales)


def groups(weight: torch.Tensor, group_size: int) -> Rounded:
    """Round f32 ``[rows, columns]`` to 4 bits with a scale for ``group_size`` columns."""
    grouped = weight.reshape(weight.shape[0], -1, group_size)
    scales = best_scales(grouped.movedim(2, 0), torch.ones(group_size))
    ints = to_int4(grouped, scales.unsqueeze(2))
    return Rounded(4, ints.to(torch.int8).reshape(weight.shape), scales)


def best_scales(grouped: torch.Tensor, importance: torch.Tensor) -> torch.Tensor:
    """Scales of the least squared error of f32 ``[group_size, ...]``, one for each of ``...``.

    ``importance`` f32 ``[group_size]`` weighs the squared errors.
    """
    largest = grouped.abs().amax(0) / 7.5
    weights = importance.view(-1, *[1] * (grouped.ndim - 1))
    best, least = bfloat16(largest), torch.full_like(largest, torch.inf)
    for shrink in SHRINK:
        scales = bfloat16(largest * shrink)
        error = ((to_int4(grouped, scales) * scales - grouped).square_() * weights).sum(0)
        best = torch.where(error < least, scales, best)
        least = torch.minimum(error, least)
    return best


def to_int4(values: torch.Tensor, scales: torch.Tensor) -> torch.Tensor:
    """Nearest integers as f32."""
    return torch.round(values / scales).clamp_(*LIMITS[4])
