"""Lowering to XNNPACK: float and statically quantised graphs, on the CPU."""

from __future__ import annotations

from typing import TYPE_CHECKING

from executorch.backends.xnnpack.partition.xnnpack_partitioner import XnnpackPartitioner
from executorch.exir import to_edge_transform_and_lower

from nearside_export.lower.coverage import coverage
from nearside_export.lower.portable import backend_config
from nearside_export.lower.program import LoweredProgram, describe

if TYPE_CHECKING:
    from torch.export import ExportedProgram

DELEGATE = "XnnpackBackend"


def lower(program: ExportedProgram, method: str = "forward") -> LoweredProgram:
    """Give XNNPACK every operator that it takes; the rest stays on portable kernels."""
    edge = to_edge_transform_and_lower({method: program}, partitioner=[XnnpackPartitioner()])
    share = coverage(edge.exported_program(method))
    return describe(edge.to_executorch(backend_config()), method, share)
