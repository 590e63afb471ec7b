"""Lowering to the delegate that a variant is for."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import TYPE_CHECKING, Any

from nearside_export.errors import LibraryError
from nearside_export.lower import partitioned, xnnpack
from nearside_export.lower.program import LoweredProgram

if TYPE_CHECKING:
    from torch.export import ExportedProgram
    from torch.fx import Node

    from nearside_export.wanted import Wanted

CACHE_LINE = 64
"""Bytes that our kernels read at once at most: constants begin at a multiple of them."""


def lower(
    program: ExportedProgram,
    wanted: Wanted,
    *,
    weights_outside: bool = False,
    soc: str | None = None,
) -> LoweredProgram:
    """Lower a program of one method, ``forward``, without state.

    ``weights_outside``: in a ``.ptd`` file (see :mod:`.external_weights`), for delegates that can.
    ``soc`` is the chip that QNN compiles for.
    """
    # Imported where it is needed: the others bring packages that may not be there.
    match wanted.delegate.name:
        case "xnnpack":
            return xnnpack.lower(program, weights_outside=weights_outside)
        case "portable":
            return partitioned.lower(program, [], weights_outside=weights_outside)
        case "openvino":
            from nearside_export.lower import openvino

            return openvino.lower(program)
        case "coreml":
            from nearside_export.lower import coreml

            return coreml.lower(program, half=wanted.scheme == "fp16")
        case "qnn":
            from nearside_export.lower import qnn

            return qnn.lower(program, soc or "")
    raise LibraryError(f"{wanted.delegate.name} is no delegate that this exporter lowers to")


def lower_methods(
    methods: dict[str, ExportedProgram],
    wanted: Wanted,
    constant_methods: dict[str, Any] | None = None,
    method: str = "forward",
    external: Callable[[Node], str | None] | None = None,
    *,
    weights_outside: bool = False,
) -> LoweredProgram:
    """Lower methods with state; see `partitioned.lower_methods`."""
    lower = xnnpack.lower_methods
    if wanted.delegate.own:
        lower = partial(partitioned.lower_methods, partitioners=[], alignment=CACHE_LINE)
    elif wanted.delegate.backend is None:
        lower = partial(partitioned.lower_methods, partitioners=[])
    return lower(
        methods,
        constant_methods=constant_methods,
        method=method,
        external=external,
        weights_outside=weights_outside,
    )
