"""HQQ's scales (Badri and Shaji, "Half-Quadratic Quantization", 2023), as torchao finds them.

It minimises an error that forgives a few outliers; no data is needed.
"""

from __future__ import annotations

import torch
from torchao.quantization.quant_primitives import _choose_qparams_and_quantize_scale_only_hqq

from nearside_export.quantise.integer_linear import LIMITS, Rounded
from nearside_export.quantise.rounding import bfloat16
from nearside_export.quantise.rounding.nearest import to_int4


def groups(weight: torch.Tensor, group_size: int) -> Rounded:
    """Round f32 ``[rows, columns]`` to 4 bits with a scale for ``group_size`` columns."""
    _, scales = _choose_qparams_and_quantize_scale_only_hqq(weight, [1, group_size], *LIMITS[4])
    scales = bfloat16(scales.reshape(weight.shape[0], -1))
    grouped = weight.reshape(weight.shape[0], -1, group_size)
    ints = to_int4(grouped, scales.unsqueeze(2))
    return Rounded(4, ints.to(torch.int8).reshape(weight.shape), scales)
