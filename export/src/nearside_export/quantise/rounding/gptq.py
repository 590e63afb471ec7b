"""GPTQ (Frantar et al., 2022): each column's rounding error is made good by the columns after it.

What counts is the layer's output on calibration text, which the second moments of its input tell.
"""

from __future__ import annotations

import torch

from nearside_export.quantise.integer_linear import Rounded
from nearside_export.quantise.rounding.grid import Fit, Grid, symmetric

DAMPING = 0.01
"""Share of the moments' mean diagonal that is added to the diagonal, as in the paper."""
_BLOCK = 96
"""Columns whose errors are passed on at once; a multiple of every group size is not needed."""


def groups(
    weight: torch.Tensor, moments: torch.Tensor, group_size: int, fit: Fit = symmetric
) -> Rounded:
    """Round f32 ``[rows, columns]`` to 4 bits with a grid for ``group_size`` columns.

    ``moments`` f32 ``[columns, columns]`` is the sum of ``x x^T`` over the layer's inputs.
    """
    factor = _inverse_factor(moments)
    importance = factor.diagonal().square().reciprocal()
    # Columns as rows: each step works on one, and should find it in one piece.
    rest = weight.t().clone(memory_format=torch.contiguous_format)
    ints = torch.empty_like(rest, dtype=torch.int8)
    grids: list[Grid] = []
    block = max(_BLOCK // group_size, 1) * group_size
    for start in range(0, len(rest), block):
        end = min(start + block, len(rest))
        part, errors = rest[start:end].clone(), torch.empty_like(rest[start:end])
        local = factor[start:end, start:end].contiguous()
        for column in range(end - start):
            if column % group_size == 0:
                group = slice(column, column + group_size)
                grids.append(fit(part[group], importance[start:end][group]))
            rounded = grids[-1].ints(part[column])
            ints[start + column] = rounded.to(torch.int8)
            errors[column] = (part[column] - grids[-1].values(rounded)) / local[column, column]
            part[column + 1 :].addr_(local[column, column + 1 :], errors[column], alpha=-1)
        rest[end:].addmm_(factor[start:end, end:].t(), errors, alpha=-1)
    offsets = [grid.offsets for grid in grids if grid.offsets is not None]
    return Rounded(
        4,
        ints.t().contiguous(),
        torch.stack([grid.scales for grid in grids], dim=1),
        torch.stack(offsets, dim=1) if offsets else None,
    )


def _inverse_factor(moments: torch.Tensor) -> torch.Tensor:
    """Upper Cholesky factor of the inverse of the damped moments, f32 ``[columns, columns]``."""
    damped = moments.clone()
    diagonal = damped.diagonal()
    # An input that is always zero has no say; without this its row could not be inverted.
    diagonal[diagonal == 0] = 1.0
    diagonal += DAMPING * diagonal.mean()
    lower = torch.linalg.cholesky(damped.double())
    return torch.linalg.cholesky(torch.cholesky_inverse(lower), upper=True).float()
