"""Lowering to XNNPACK: float and statically quantised graphs, on the CPU."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from executorch.backends.xnnpack.partition.xnnpack_partitioner import XnnpackPartitioner
from executorch.exir import (
    EdgeCompileConfig,
    ExecutorchBackendConfig,
    to_edge_transform_and_lower,
)
from executorch.exir.passes import MemoryPlanningPass

from nearside_export.lower import external_weights, retracing
from nearside_export.lower.coverage import calls, coverage, share
from nearside_export.lower.portable import backend_config
from nearside_export.lower.program import LoweredProgram, describe, describe_all
from nearside_export.lower.tanh_gelu import spell_out

if TYPE_CHECKING:
    from torch.export import ExportedProgram
    from torch.fx import Node

DELEGATE = "XnnpackBackend"


def lower(
    program: ExportedProgram, method: str = "forward", *, weights_outside: bool = False
) -> LoweredProgram:
    """Give XNNPACK every operator that it takes; the rest stays on portable kernels.

    ``weights_outside``: all of them in a ``.ptd`` file (see :mod:`.external_weights`).
    """
    spell_out(program)
    with retracing.only_changed_graphs():
        edge = to_edge_transform_and_lower({method: program}, partitioner=[XnnpackPartitioner()])
    covered = coverage(edge.exported_program(method))
    manager = external_weights.finish(edge, backend_config(), weights_outside)
    return describe(manager, method, covered)


def lower_methods(
    methods: dict[str, ExportedProgram],
    constant_methods: dict[str, Any] | None = None,
    method: str = "forward",
    external: Callable[[Node], str | None] | None = None,
    *,
    weights_outside: bool = False,
) -> LoweredProgram:
    """Lower methods that share mutable buffers (a KV cache); ``method`` is the one to begin with.

    ``external`` names the ``.ptd`` file that a constant outside of delegates goes into; null leaves
    it in the program, or with ``weights_outside`` in the file of all others, and of XNNPACK's (see
    :mod:`.external_weights`). GELUs by tanh are spelt out first, in place (see :mod:`.tanh_gelu`).
    The buffers go into memory id 2, and writes by index happen in place (fixtures/state.py).
    """
    for program in methods.values():
        spell_out(program)
    with retracing.only_changed_graphs():
        edge = to_edge_transform_and_lower(
            methods,
            partitioner=[XnnpackPartitioner()],
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
    )
    manager = external_weights.finish(edge, config, weights_outside)
    if len(methods) > 1:
        return describe_all(manager, method, counts)
    return describe(manager, method, share([counts[method]]))
