"""The numbers that a group of 4-bit weights can be: ``int * scale``, or ``int * scale + offset``.

Symmetric grids are what XNNPACK's kernels hold. Asymmetric ones fit small models' weights better,
and cost an offset a group (see `integer_linear.OffsetLinear`).
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import torch

from nearside_export.quantise.integer_linear import LIMITS, Rounded
from nearside_export.quantise.rounding import bfloat16

SYMMETRIC_RANGES = torch.linspace(0.6, 1.05, 19)
"""Scales tried, as shares of the one that holds the largest value."""
ASYMMETRIC_RANGES = torch.linspace(0.76, 1.0, 9)
"""Scales tried, as shares of the one that holds the least and the largest value."""
_LEAST, _GREATEST = LIMITS[4]


@dataclass(frozen=True)
class Grid:
    """``scales`` f32 ``[...]``, positive bfloat16 numbers; ``offsets`` alike, or null for zeros."""

    scales: torch.Tensor
    offsets: torch.Tensor | None = None

    def ints(self, values: torch.Tensor) -> torch.Tensor:
        """Nearest integers, as f32, of f32 ``[n, ...]`` or ``[...]``."""
        if self.offsets is not None:
            values = values - self.offsets
        return torch.round(values / self.scales).clamp_(_LEAST, _GREATEST)

    def values(self, ints: torch.Tensor) -> torch.Tensor:
        """Give what integers, as f32, stand for."""
        values = ints * self.scales
        return values if self.offsets is None else values.add_(self.offsets)


Fit = Callable[[torch.Tensor, torch.Tensor], Grid]
"""Columns f32 ``[n, ...]`` of a group for each of ``...``, and the weights f32 ``[n]`` of their
squared errors, to the grids of the least sum of those."""


def symmetric(grouped: torch.Tensor, importance: torch.Tensor) -> Grid:
    """Find scales (a `Fit`)."""
    largest = grouped.abs().amax(0) / 7.5
    weights = importance.view(-1, *[1] * (grouped.ndim - 1))
    best, least = bfloat16(largest), torch.full_like(largest, torch.inf)
    for share in SYMMETRIC_RANGES:
        grid = Grid(bfloat16(largest * share))
        error = _error(grid, grid.ints(grouped), grouped, weights)
        best = torch.where(error < least, grid.scales, best)
        least = torch.minimum(error, least)
    return Grid(best)


def asymmetric(grouped: torch.Tensor, importance: torch.Tensor) -> Grid:
    """Find scales and offsets (a `Fit`), as llama.cpp does for Q4_1 and its k-quants.

    Integers of several ranges are each given the line of the least squared error through them.
    """
    weights = importance.view(-1, *[1] * (grouped.ndim - 1)) / importance.sum()
    low, high = grouped.amin(0), grouped.amax(0)
    mean = (grouped * weights).sum(0)
    centre = (low + high) / 2 - (_LEAST + _GREATEST) / 2 * (high - low) / 15
    best = Grid(bfloat16((high - low) / 15), centre)
    least = _error(best, best.ints(grouped), grouped, weights)
    for share in ASYMMETRIC_RANGES:
        scales = bfloat16((high - low) * share / 15)
        begun = Grid(scales, (low + high) / 2 - (_LEAST + _GREATEST) / 2 * scales)
        ints = begun.ints(grouped)
        mean_int = (ints * weights).sum(0)
        distance = (ints - mean_int) * weights
        slope = (distance * grouped).sum(0) / (distance * ints).sum(0).clamp(min=1e-12)
        scales = bfloat16(slope)
        grid = Grid(scales, mean - scales * mean_int)
        error = _error(grid, grid.ints(grouped), grouped, weights)
        better = error < least
        best = Grid(
            torch.where(better, grid.scales, best.scales),
            torch.where(better, grid.offsets, best.offsets),
        )
        least = torch.minimum(error, least)
    return best


def rounded(weight: torch.Tensor, grid: Grid) -> Rounded:
    """Round f32 ``[rows, columns]`` to a ``grid`` of ``[rows, groups]``."""
    rows, groups = grid.scales.shape
    whole = Grid(
        grid.scales.unsqueeze(2), None if grid.offsets is None else grid.offsets[..., None]
    )
    ints = whole.ints(weight.reshape(rows, groups, -1))
    return Rounded(4, ints.to(torch.int8).reshape(weight.shape), grid.scales, grid.offsets)


def _error(
    grid: Grid, ints: torch.Tensor, grouped: torch.Tensor, weights: torch.Tensor
) -> torch.Tensor:
    return ((grid.values(ints) - grouped).square_() * weights).sum(0)
