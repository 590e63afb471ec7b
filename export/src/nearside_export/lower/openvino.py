"""Lowering to OpenVINO, on Intel CPUs.

Needs ``openvino>=2025.1,<2026``, ``nncf==3.1.0`` and their dependencies beside the exporter's own
environment: the backend asks for them, and ExecuTorch's wheel does not declare it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from executorch.backends.openvino.partitioner import OpenvinoPartitioner
from executorch.exir import to_edge_transform_and_lower
from executorch.exir.backend.backend_details import CompileSpec

from nearside_export.lower.coverage import coverage
from nearside_export.lower.portable import backend_config
from nearside_export.lower.program import LoweredProgram, describe

if TYPE_CHECKING:
    from torch.export import ExportedProgram

DELEGATE = "OpenvinoBackend"


def lower(program: ExportedProgram, method: str = "forward") -> LoweredProgram:
    """Give OpenVINO every operator that it takes, for the device ``CPU``."""
    partitioner = OpenvinoPartitioner([CompileSpec("device", b"CPU")])
    edge = to_edge_transform_and_lower({method: program}, partitioner=[partitioner])
    share = coverage(edge.exported_program(method))
    return describe(edge.to_executorch(backend_config()), method, share)
