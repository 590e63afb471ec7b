"""Ways to round weights to integers: plain (`nearest`), `hqq`, `gptq`, or as the `source` has them.

Scales of 4-bit weights are bfloat16 in XNNPACK's kernels: every way chooses among those numbers, so
that the integers belong to the scales that they are multiplied with.
"""

from __future__ import annotations

import torch

SMALLEST_SCALE = 2.0**-100
"""XNNPACK refuses scales that are zero or subnormal."""


def bfloat16(scales: torch.Tensor) -> torch.Tensor:
    """Round scales f32 to bfloat16 numbers, kept as f32, none below `SMALLEST_SCALE`."""
    return scales.clamp(min=SMALLEST_SCALE).to(torch.bfloat16).to(torch.float32)
