"""Lowering to ExecuTorch's portable kernels, without a delegate."""

from __future__ import annotations

from typing import TYPE_CHECKING

from executorch.exir import to_edge_transform_and_lower

from nearside_export.lower.partitioned import backend_config
from nearside_export.lower.program import LoweredProgram, describe

if TYPE_CHECKING:
    from torch.export import ExportedProgram


def lower(methods: dict[str, ExportedProgram], method: str = "forward") -> LoweredProgram:
    """Lower one program per method; the facts describe ``method``."""
    edge = to_edge_transform_and_lower(methods)
    return describe(edge.to_executorch(backend_config()), method, coverage=0.0)
