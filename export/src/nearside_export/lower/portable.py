"""Lowering to ExecuTorch's portable kernels, without a delegate."""

from __future__ import annotations

from typing import TYPE_CHECKING

from executorch.exir import ExecutorchBackendConfig, to_edge_transform_and_lower
from executorch.exir.passes import MemoryPlanningPass

from nearside_export.lower.program import LoweredProgram, describe

if TYPE_CHECKING:
    from torch.export import ExportedProgram


def backend_config() -> ExecutorchBackendConfig:
    """Plan the memory of everything but the inputs: the runtime binds the caller's buffers."""
    return ExecutorchBackendConfig(memory_planning_pass=MemoryPlanningPass(alloc_graph_input=False))


def lower(methods: dict[str, ExportedProgram], method: str = "forward") -> LoweredProgram:
    """Lower one program per method; the facts describe ``method``."""
    edge = to_edge_transform_and_lower(methods)
    return describe(edge.to_executorch(backend_config()), method, coverage=0.0)
