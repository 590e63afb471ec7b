"""Lowering to XNNPACK: float and statically quantised graphs, on the CPU."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from executorch.backends.xnnpack.partition.xnnpack_partitioner import XnnpackPartitioner

from nearside_export.lower import partitioned, weight_only
from nearside_export.lower.program import LoweredProgram
from nearside_export.lower.tanh_gelu import spell_out

if TYPE_CHECKING:
    from torch.export import ExportedProgram
    from torch.fx import Node


def lower(
    program: ExportedProgram, method: str = "forward", *, weights_outside: bool = False
) -> LoweredProgram:
    """Give XNNPACK every operator that it takes; see `partitioned.lower`.

    GELUs by tanh are spelt out first, in place (see :mod:`.tanh_gelu`).
    """
    spell_out(program)
    return partitioned.lower(
        program,
        [XnnpackPartitioner(configs=weight_only.CONFIGS)],
        method,
        weights_outside=weights_outside,
    )


def lower_methods(
    methods: dict[str, ExportedProgram],
    constant_methods: dict[str, Any] | None = None,
    method: str = "forward",
    external: Callable[[Node], str | None] | None = None,
    *,
    weights_outside: bool = False,
) -> LoweredProgram:
    """Lower methods that share mutable buffers; see `partitioned.lower_methods`."""
    for program in methods.values():
        spell_out(program)
    return partitioned.lower_methods(
        methods,
        [XnnpackPartitioner(configs=weight_only.CONFIGS)],
        constant_methods,
        method,
        external,
        weights_outside=weights_outside,
    )
