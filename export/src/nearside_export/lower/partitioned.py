"""Lowering with a delegate's partitioners: what every delegate's file calls."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

from executorch.exir import (
    EdgeCompileConfig,
    ExecutorchBackendConfig,
    to_edge_transform_and_lower,
)
from executorch.exir.passes import MemoryPlanningPass

from nearside_export.lower import external_weights, quantiser_shapes, retracing
from nearside_export.lower.coverage import calls, coverage, share
from nearside_export.lower.program import LoweredProgram, describe, describe_all

if TYPE_CHECKING:
    from executorch.exir.backend.partitioner import Partitioner
    from torch.export import ExportedProgram
    from torch.fx import Node


def backend_config() -> ExecutorchBackendConfig:
    """Plan the memory of everything but the inputs: the runtime binds the caller's buffers."""
    return ExecutorchBackendConfig(memory_planning_pass=MemoryPlanningPass(alloc_graph_input=False))


def lower(
    program: ExportedProgram,
    partitioners: Sequence[Partitioner],
    method: str = "forward",
    *,
    weights_outside: bool = False,
) -> LoweredProgram:
    """Give the delegate every operator that it takes; the rest stays on portable kernels.

    ``weights_outside``: all of them in a ``.ptd`` file (see :mod:`.external_weights`).
    """
    with retracing.only_changed_graphs(), quantiser_shapes.told_at_once():
        edge = to_edge_transform_and_lower({method: program}, partitioner=list(partitioners))
    covered = coverage(edge.exported_program(method))
    manager = external_weights.finish(edge, backend_config(), weights_outside)
    return describe(manager, method, covered)


def lower_methods(
    methods: dict[str, ExportedProgram],
    partitioners: Sequence[Partitioner],
    constant_methods: dict[str, Any] | None = None,
    method: str = "forward",
    external: Callable[[Node], str | None] | None = None,
    *,
    weights_outside: bool = False,
    alignment: int | None = None,
) -> LoweredProgram:
    """Lower methods that share mutable buffers (a KV cache); ``method`` is the one to begin with.

    ``external`` names the ``.ptd`` file that a constant outside of delegates goes into; null leaves
    it in the program, or with ``weights_outside`` in the file of all others, and of the delegate's
    (see :mod:`.external_weights`). The buffers go into memory id 2, and writes by index happen in
    place (fixtures/state.py). Constants of the program begin at multiples of ``alignment`` bytes,
    ExecuTorch's 16 unless it is given.
    """
    with retracing.only_changed_graphs(), quantiser_shapes.told_at_once():
        edge = to_edge_transform_and_lower(
            methods,
            partitioner=list(partitioners),
            compile_config=EdgeCompileConfig(_check_ir_validity=False),
            constant_methods=constant_methods,
        )
    counts = {name: calls(edge.exported_program(name)) for name in methods}
    config = ExecutorchBackendConfig(
        memory_planning_pass=MemoryPlanningPass(
            alloc_graph_input=False, share_mutable_buffers=True
        ),
        emit_mutable_buffer_names=True,
        external_constants=external or False,
        run_reinplace_pass=True,
        constant_tensor_alignment=alignment,
    )
    manager = external_weights.finish(edge, config, weights_outside)
    if len(methods) > 1:
        return describe_all(manager, method, counts)
    return describe(manager, method, share([counts[method]]))
