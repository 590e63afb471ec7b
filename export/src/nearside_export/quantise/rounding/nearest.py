"""Round to nearest; scales from the largest value, or for 4 bits of the least squared error."""

from __future__ import annotations

import torch

from nearside_export.quantise.integer_linear import LIMITS, Rounded
from nearside_export.quantise.rounding import SMALLEST_SCALE
from nearside_export.quantise.rounding.grid import Fit, rounded, symmetric


def rows(weight: torch.Tensor) -> Rounded:
    """Round f32 ``[rows, columns]`` to 8 bits with a scale a row."""
    low, high = LIMITS[8]
    scales = (weight.abs().amax(1, keepdim=True) / high).clamp(min=SMALLEST_SCALE)
    return Rounded(8, torch.round(weight / scales).clamp(low, high).to(torch.int8), scales)


def groups(weight: torch.Tensor, group_size: int, fit: Fit = symmetric) -> Rounded:
    """Round f32 ``[rows, columns]`` to 4 bits with a grid for ``group_size`` columns."""
    grouped = weight.reshape(weight.shape[0], -1, group_size)
    return rounded(weight, fit(grouped.movedim(2, 0), torch.ones(group_size)))
