"""Rotary position embedding, computed in the graph from the positions.

A table of ``context_length`` rows would be a constant as large as the context is long; the sines
of a call's positions are a few hundred numbers.
"""

from __future__ import annotations

import math

import torch
from torch.nn import functional

from nearside_export.architectures.decoder.config import Llama3Scaling, Rope


def inverse_frequencies(rope: Rope, head_dim: int) -> torch.Tensor:
    """Radians a position, f32 ``[head_dim / 2]``."""
    exponents = torch.arange(0, head_dim, 2, dtype=torch.float32) / head_dim
    frequencies = 1.0 / (rope.theta**exponents)
    if rope.llama3 is not None:
        frequencies = _llama3(frequencies, rope.llama3)
    if rope.factors is not None:
        frequencies = frequencies / torch.tensor(rope.factors, dtype=torch.float32)
    return frequencies / rope.linear


def tables(positions: torch.Tensor, frequencies: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
    """Cosines and sines, each f32 ``[1, S, 1, head_dim]``, of ``positions`` i64 ``[S]``.

    Both halves are the same: an element and the one half a head away turn by one angle.
    """
    both = torch.cat((frequencies, frequencies))
    angles = positions.to(torch.float32).view(1, -1, 1, 1) * both.view(1, 1, 1, -1)
    return angles.cos(), angles.sin()


def half_turn(head_dim: int) -> torch.Tensor:
    """Matrix f32 ``[head_dim, head_dim]`` that takes halves ``(a, b)`` to ``(-b, a)``."""
    half = head_dim // 2
    turn = torch.zeros(head_dim, head_dim)
    turn[:half, half:] = -torch.eye(half)
    turn[half:, :half] = torch.eye(half)
    return turn


def rotate(
    x: torch.Tensor, cos: torch.Tensor, sin: torch.Tensor, turn: torch.Tensor
) -> torch.Tensor:
    """Rotate ``x`` f32 ``[1, S, heads, head_dim]``, pairing each element with one half away.

    The halves change places by a product with ``turn`` (see `half_turn`), which is exact. XNNPACK
    can't slice tensors of dynamic length: two slices a layer would cut its delegates apart.
    """
    return x * cos + functional.linear(x, turn) * sin


def _llama3(frequencies: torch.Tensor, scaling: Llama3Scaling) -> torch.Tensor:
    # As in Meta's llama-models (`apply_scaling`) and transformers' modeling_rope_utils.py.
    wavelengths = 2 * math.pi / frequencies
    long = wavelengths > scaling.original_context / scaling.low_freq_factor
    short = wavelengths < scaling.original_context / scaling.high_freq_factor
    smooth = (scaling.original_context / wavelengths - scaling.low_freq_factor) / (
        scaling.high_freq_factor - scaling.low_freq_factor
    )
    between = (1 - smooth) * frequencies / scaling.factor + smooth * frequencies
    scaled = torch.where(long, frequencies / scaling.factor, frequencies)
    return torch.where(~long & ~short, between, scaled)
