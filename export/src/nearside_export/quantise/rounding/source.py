"""Weights that a GGUF file holds as 4-bit integers, taken over instead of rounded again.

llama.cpp's Q4_0 and Q4_1 have groups of 32 columns with a scale of either sign, and Q4_1 a minimum
(ggml-quants.c). XNNPACK's scales are positive: an offset a group makes up for both.
"""

from __future__ import annotations

import torch

from nearside_export.quantise.integer_linear import Rounded
from nearside_export.quantise.rounding import bfloat16
from nearside_export.sources.model import QuantisedBlocks


def exact(blocks: QuantisedBlocks, group_size: int) -> Rounded | None:
    """Take 4-bit blocks over as they are, for our own kernels; null likewise.

    Exact but for the offsets of Q4_1, a sum of two f16 numbers that is rounded to f16 when it is
    packed: by a 2048th of an offset at most.
    """
    if blocks.bits != 4 or blocks.group_size != group_size:
        return None
    return Rounded(4, blocks.ints, blocks.scales, blocks.offsets)


def groups(blocks: QuantisedBlocks, group_size: int) -> Rounded | None:
    """Take 4-bit blocks over; null for others, and for groups of another size.

    Exact but for the scales, which lose 3 of 11 bits.
    """
    if blocks.bits != 4 or blocks.group_size != group_size:
        return None
    rows, count = blocks.scales.shape
    ints = blocks.ints.reshape(rows, count, group_size).to(torch.float32)
    scales = blocks.scales.unsqueeze(2)
    offsets = torch.zeros_like(scales)
    if blocks.offsets is not None:
        offsets = blocks.offsets.unsqueeze(2)
    # -8..7 turned round is -7..8: one less, which the offset gives back.
    negative = scales < 0
    ints = torch.where(negative, -1 - ints, ints)
    offsets = torch.where(negative, offsets - scales, offsets)
    ints = torch.where(scales == 0, 0.0, ints)
    exact = scales.abs()
    kept = bfloat16(exact)
    # What rounding the scale changes on average goes into the offset too.
    offsets = offsets + (exact - kept) * ints.mean(2, keepdim=True)
    return Rounded(
        4,
        ints.to(torch.int8).reshape(rows, -1),
        kept.squeeze(2),
        offsets.squeeze(2).contiguous() if bool((offsets != 0).any()) else None,
    )
