"""Lowering to XNNPACK: float and statically quantised graphs, on the CPU."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from executorch.backends.xnnpack.partition.xnnpack_partitioner import XnnpackPartitioner
from executorch.exir import (
    EdgeCompileConfig,
    ExecutorchBackendConfig,
    to_edge_transform_and_lower,
)
from executorch.exir.passes import MemoryPlanningPass

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


def lower_methods(
    methods: dict[str, ExportedProgram],
    constant_methods: dict[str, Any] | None = None,
    method: str = "forward",
) -> LoweredProgram:
    """Lower methods that share mutable buffers (a KV cache); the facts describe ``method``.

    The buffers go into memory id 2, and writes by index happen in place (fixtures/state.py).
    """
    edge = to_edge_transform_and_lower(
        methods,
        partitioner=[XnnpackPartitioner()],
        compile_config=EdgeCompileConfig(_check_ir_validity=False),
        constant_methods=constant_methods,
    )
    share = coverage(edge.exported_program(method))
    config = ExecutorchBackendConfig(
        memory_planning_pass=MemoryPlanningPass(
            alloc_graph_input=False, share_mutable_buffers=True
        ),
        emit_mutable_buffer_names=True,
        run_reinplace_pass=True,
    )
    return describe(edge.to_executorch(config), method, share)
