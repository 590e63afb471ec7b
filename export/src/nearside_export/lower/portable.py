"""Lowering to ExecuTorch's portable kernels, without a delegate."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from executorch.exir import to_edge_transform_and_lower

from nearside_export.lower import partitioned
from nearside_export.lower.partitioned import backend_config
from nearside_export.lower.program import LoweredProgram, describe

if TYPE_CHECKING:
    from torch.export import ExportedProgram
    from torch.fx import Node


def lower(methods: dict[str, ExportedProgram], method: str = "forward") -> LoweredProgram:
    """Lower one program per method; the facts describe ``method``."""
    edge = to_edge_transform_and_lower(methods)
    return describe(edge.to_executorch(backend_config()), method, coverage=0.0)


def lower_one(program: ExportedProgram, *, weights_outside: bool = False) -> LoweredProgram:
    """Lower the method ``forward``; see `partitioned.lower`."""
    return partitioned.lower(program, [], weights_outside=weights_outside)


def lower_methods(
    methods: dict[str, ExportedProgram],
    constant_methods: dict[str, Any] | None = None,
    method: str = "forward",
    external: Callable[[Node], str | None] | None = None,
    *,
    weights_outside: bool = False,
) -> LoweredProgram:
    """Lower methods that share mutable buffers; see `partitioned.lower_methods`."""
    return partitioned.lower_methods(
        methods, [], constant_methods, method, external, weights_outside=weights_outside
    )
