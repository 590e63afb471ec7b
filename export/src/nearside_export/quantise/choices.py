"""What can be chosen of a scheme; importable without torch, for the command line."""

from __future__ import annotations

from typing import get_args

from nearside_export.manifest.variant import KvCache, Rounding

GROUP_SIZES = (32, 64, 128)
"""Columns a scale that XNNPACK's 4-bit kernels take and that are of use."""

CACHES = get_args(KvCache)
"""What keys and values are kept as, where the operators are ours."""
USUAL_CACHE: KvCache = "int8"
"""A quarter of f32's bytes, which is what attention to a long context takes its time for."""

ROUNDINGS = ("auto", *get_args(Rounding))
"""``auto``: the source's own integers where it has them, else what predicts well (`four_bits`)."""
