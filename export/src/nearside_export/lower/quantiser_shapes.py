"""Shapes of what torchao's quantisers give, without computing it.

ExecuTorch's passes run every operator on fake tensors, which have a shape and no values. torchao's
quantisers are made of a dozen operators each, so that a third of the time in which a quantised
language model is lowered went into them. Here they tell shape and dtype at once. The program is
the same, byte for byte (test_quantiser_shapes.py).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import cache
from typing import Any

import torch
from torch._inductor.decomposition import decompositions
from torch._subclasses.fake_tensor import FakeTensor
from torch.fx.experimental.proxy_tensor import get_proxy_mode
from torchao.quantization import quant_primitives

_told = False
"""Whether a block of `told_at_once` runs."""


@contextmanager
def told_at_once() -> Iterator[None]:
    """Let, while the block runs, quantisers of fake tensors tell shapes only."""
    global _told
    _install()
    before, _told = _told, True
    try:
        yield
    finally:
        _told = before


@cache
def _install() -> torch.library.Library:
    """Put the functions below before torchao's own, once: PyTorch does not take that back."""
    library = torch.library.Library("torchao", "IMPL")
    for name, told in _TOLD.items():
        original = decompositions[getattr(torch.ops.torchao, name).default]
        library.impl(
            name, _either(original, told), "CompositeImplicitAutograd", allow_override=True
        )
    return library


def _either(original: Callable[..., Any], told: Callable[..., Any | None]) -> Callable[..., Any]:
    def run(x: torch.Tensor, *args: Any, **options: Any) -> Any:  # noqa: ANN401
        # Where operators are recorded for a graph, torchao's own have to be.
        if _told and isinstance(x, FakeTensor) and get_proxy_mode() is None:
            found = told(x, *args, **options)
            if found is not None:
                return found
        return original(x, *args, **options)

    return run


def _quantised(
    x: torch.Tensor,
    block_size: list[int],
    scale: torch.Tensor,
    zero_point: torch.Tensor | None,
    output_dtype: torch.dtype,
    *_: Any,  # noqa: ANN401
    **__: Any,  # noqa: ANN401
) -> torch.Tensor | None:
    # Those of fewer bits are held in others.
    if output_dtype not in (torch.int8, torch.uint8, torch.int32):
        return None
    return torch.empty_like(x, dtype=output_dtype)


def _dequantised(
    x: torch.Tensor,
    block_size: list[int],
    scale: torch.Tensor,
    zero_point: torch.Tensor | None,
    input_dtype: torch.dtype,
    quant_min: float | None = None,
    quant_max: float | None = None,
    output_dtype: torch.dtype = torch.float32,
) -> torch.Tensor:
    return torch.empty_like(x, dtype=output_dtype)


def _scale_and_zero_point(
    x: torch.Tensor,
    mapping_type: str,
    block_size: list[int],
    target_dtype: torch.dtype,
    quant_min: float | None = None,
    quant_max: float | None = None,
    eps: float | None = None,
    scale_dtype: torch.dtype | None = None,
    zero_point_dtype: torch.dtype | None = None,
    keepdim: bool = False,
) -> tuple[torch.Tensor, torch.Tensor] | None:
    if keepdim or mapping_type != "ASYMMETRIC":
        return None
    shape, reduced = quant_primitives._get_reduction_params(block_size, x.size())
    kept = [size for place, size in enumerate(shape) if place not in reduced]
    return (
        x.new_empty(kept, dtype=scale_dtype or x.dtype),
        x.new_empty(kept, dtype=zero_point_dtype or torch.int32),
    )


_TOLD: dict[str, Callable[..., Any | None]] = {
    "quantize_affine": _quantised,
    "dequantize_affine": _dequantised,
    "choose_qparams_affine": _scale_and_zero_point,
}
