"""HQQ's scales (Badri and Shaji, "Half-Quadratic Quantization", 2023), as torchao finds them.

It minimises an error that forgives a few outliers; no data is needed.
"""

from __future__ import annotations

import torch
from torchao.quantization.quant_primitives import (
    _choose_qparams_and_quantize_affine_hqq,
    _choose_qparams_and_quantize_scale_only_hqq,
)

from nearside_export.quantise.integer_linear import LIMITS, Rounded
from nearside_export.quantise.rounding import bfloat16
from nearside_export.quantise.rounding.grid import Grid, rounded


def groups(weight: torch.Tensor, group_size: int) -> Rounded:
    """Round f32 ``[rows, columns]`` to 4 bits with a scale for ``group_size`` columns."""
    _, scales = _choose_qparams_and_quantize_scale_only_hqq(weight, [1, group_size], *LIMITS[4])
    return rounded(weight, Grid(bfloat16(scales.reshape(weight.shape[0], -1))))


def asymmetric_groups(weight: torch.Tensor, group_size: int) -> Rounded:
    """Round likewise, with an offset for ``group_size`` columns too."""
    _, scales, zeros, _ = _choose_qparams_and_quantize_affine_hqq(
        weight, 4, group_size, compute_dtype=torch.float32, device="cpu", raw_output=True
    )
    kept = bfloat16(scales)
    # torchao's integers are 0..15 and stand for (int - zero) * scale; ours are 8 less.
    return rounded(weight, Grid(kept, (8 - zeros) * kept))
