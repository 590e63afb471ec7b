"""A lowered program and the facts about it that the manifest carries."""

from __future__ import annotations

import tempfile
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

from nearside_export.lower.coverage import share
from nearside_export.lower.shared_weights import share_weights
from nearside_export.manifest import MethodFacts
from nearside_export.manifest.variant import prefill_and_decode

if TYPE_CHECKING:
    from executorch.exir import ExecutorchProgramManager


STATE_MEMORY = 2
"""Memory id of the mutable buffers that methods share (``share_mutable_buffers``)."""


@dataclass(frozen=True)
class LoweredProgram:
    """A ``.pte`` in memory.

    ``delegates``, ``operators`` and ``planned_bytes`` describe ``method``, read from the program
    itself; ``coverage`` is 0..1 (see :mod:`.coverage`). Where there are several methods, these are
    over all of them, what they share once, and ``methods`` has them one by one. ``data`` are its
    ``.ptd`` files by name.
    """

    pte: bytes
    method: str
    delegates: list[str]
    operators: list[str]
    coverage: float
    planned_bytes: int
    methods: list[MethodFacts] = field(default_factory=list)
    data: dict[str, bytes] = field(default_factory=dict)

    @property
    def prefill_and_decode(self) -> list[str]:
        """The methods for several tokens and for single ones, or the one for both."""
        return prefill_and_decode(self.method, self.methods)


def describe(manager: ExecutorchProgramManager, method: str, coverage: float) -> LoweredProgram:
    """Read delegates, leftover operators and arena sizes of ``method`` from the flatbuffer."""
    facts = _facts(manager, method, coverage)
    return LoweredProgram(
        pte=share_weights(manager.buffer),
        method=method,
        delegates=facts.delegates,
        operators=facts.operators,
        coverage=coverage,
        planned_bytes=facts.planned_bytes,
        data=_data(manager),
    )


def describe_all(
    manager: ExecutorchProgramManager, method: str, calls: dict[str, tuple[int, int]]
) -> LoweredProgram:
    """Describe a program of several methods, ``method`` the one to begin with.

    ``calls`` are those inside and outside of delegates, by method.
    """
    methods = [_facts(manager, name, share([counts])) for name, counts in calls.items()]
    return LoweredProgram(
        pte=share_weights(manager.buffer),
        method=method,
        delegates=sorted({d for m in methods for d in m.delegates}),
        operators=sorted({o for m in methods for o in m.operators}),
        coverage=share(list(calls.values())),
        planned_bytes=sum(m.planned_bytes for m in methods) - _counted_twice(manager, methods),
        methods=methods,
        data=_data(manager),
    )


def _counted_twice(manager: ExecutorchProgramManager, methods: list[MethodFacts]) -> int:
    """Bytes of the state that methods share, for each but one of those that do."""
    names = {m.name for m in methods}
    plans = [p for p in manager.executorch_program.execution_plan if p.name in names]
    # Entry 0 stands for the constant buffer.
    states = [p.non_const_buffer_sizes[STATE_MEMORY:][:1] for p in plans]
    sizes = [size for (size,) in filter(None, states)]
    return sum(sizes) - max(sizes, default=0)


def _data(manager: ExecutorchProgramManager) -> dict[str, bytes]:
    with tempfile.TemporaryDirectory() as folder:
        manager.write_tensor_data_to_file(folder)
        return {path.name: path.read_bytes() for path in sorted(Path(folder).iterdir())}


def _facts(manager: ExecutorchProgramManager, method: str, coverage: float) -> MethodFacts:
    plan = next(p for p in manager.executorch_program.execution_plan if p.name == method)
    operators = {
        f"{op.name}.{op.overload}" if op.overload else op.name
        for op in plan.operators
        if not op.name.startswith("executorch_prim::")
    }
    return MethodFacts(
        name=method,
        delegates=sorted({d.id for d in plan.delegates}),
        operators=sorted(operators),
        coverage=round(coverage, 4),
        # Entry 0 stands for the constant buffer and is always 0 (exir/schema.py).
        planned_bytes=sum(plan.non_const_buffer_sizes),
    )
