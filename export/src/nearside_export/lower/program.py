"""A lowered program and the facts about it that the manifest carries."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from executorch.exir import ExecutorchProgramManager


@dataclass(frozen=True)
class LoweredProgram:
    """A ``.pte`` in memory.

    ``delegates``, ``operators`` and ``planned_bytes`` describe ``method``, read from the program
    itself; ``coverage`` is 0..1 (see :mod:`.coverage`).
    """

    pte: bytes
    method: str
    delegates: list[str]
    operators: list[str]
    coverage: float
    planned_bytes: int


def describe(manager: ExecutorchProgramManager, method: str, coverage: float) -> LoweredProgram:
    """Read delegates, leftover operators and arena sizes of ``method`` from the flatbuffer."""
    plan = next(p for p in manager.executorch_program.execution_plan if p.name == method)
    operators = {
        f"{op.name}.{op.overload}" if op.overload else op.name
        for op in plan.operators
        if not op.name.startswith("executorch_prim::")
    }
    return LoweredProgram(
        pte=bytes(manager.buffer),
        method=method,
        delegates=sorted({d.id for d in plan.delegates}),
        operators=sorted(operators),
        coverage=coverage,
        # Entry 0 stands for the constant buffer and is always 0 (exir/schema.py).
        planned_bytes=sum(plan.non_const_buffer_sizes),
    )
