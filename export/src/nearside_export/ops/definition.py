"""How operators of ours are defined: a schema, an eager reference and shapes, in two forms.

``NAME`` is the functional form that models call; ``NAME.out``, into which ExecuTorch's lowering
turns it, is the one that kernels are called by.
"""

from __future__ import annotations

import string
from collections.abc import Callable, Sequence
from typing import Any

import torch

LIBRARY = torch.library.Library("nearside", "FRAGMENT")

Function = Callable[..., Any]
"""Gives a tensor, or a tuple of them where an operator has several outs."""


def define(
    name: str, arguments: str, eager: Function, fake: Function, outs: Sequence[str] = ("out",)
) -> None:
    """Define ``nearside::name`` with ``arguments`` as in a schema, results called ``outs``.

    ``eager`` computes, without gradients; ``fake`` checks the call and gives empty tensors.
    """
    eager = torch.no_grad()(eager)
    free = string.ascii_lowercase[arguments.count("!)") :]
    given = [f"Tensor({letter}!)" for letter, _ in zip(free, outs, strict=False)]
    declared = ", ".join(f"{kind} {out}" for kind, out in zip(given, outs, strict=True))
    results = "Tensor" if len(outs) == 1 else f"({', '.join(['Tensor'] * len(outs))})"
    written = given[0] if len(outs) == 1 else f"({', '.join(given)})"
    LIBRARY.define(f"{name}({arguments}) -> {results}")
    LIBRARY.define(f"{name}.out({arguments}, *, {declared}) -> {written}")

    def into(*call: Any, **places: torch.Tensor) -> Any:  # noqa: ANN401
        found = eager(*call)
        results = [found] if len(outs) == 1 else list(found)
        kept = tuple(
            places[out].resize_(result.shape).copy_(result)
            for out, result in zip(outs, results, strict=True)
        )
        return kept[0] if len(outs) == 1 else kept

    def into_fake(*call: Any, **places: torch.Tensor) -> Any:  # noqa: ANN401
        fake(*call)
        return places[outs[0]] if len(outs) == 1 else tuple(places[out] for out in outs)

    LIBRARY.impl(name, eager, "CPU")
    LIBRARY.impl(f"{name}.out", torch.no_grad()(into), "CPU")
    torch.library.register_fake(f"nearside::{name}", fake, lib=LIBRARY)
    torch.library.register_fake(f"nearside::{name}.out", into_fake, lib=LIBRARY)


def require(name: str, holds: bool, problem: str) -> None:
    """``RuntimeError`` unless ``holds``."""
    if not holds:
        raise RuntimeError(f"nearside::{name}: {problem}")


def require_tensor(
    name: str, argument: str, tensor: torch.Tensor, dtype: torch.dtype, dims: int | None
) -> None:
    """``RuntimeError`` unless it is of ``dtype`` with ``dims`` dimensions (null: any but none)."""
    require(name, tensor.dtype is dtype, f"{argument} is {tensor.dtype}, not {dtype}")
    found = tensor.dim()
    wanted = f"{dims} dimensions" if dims is not None else "a dimension"
    fits = found == dims if dims is not None else found > 0
    require(name, fits, f"{argument} has {found} dimensions, it needs {wanted}")
