"""Programs that were just lowered, loaded to be measured."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

from nearside_export.lower.program import LoweredProgram
from nearside_export.runtime import RunnableMethod, nearside, wheel
from nearside_export.tasks import data_files


@contextmanager
def running(
    lowered: LoweredProgram, methods: Sequence[str], data: Sequence[Path] = ()
) -> Iterator[list[RunnableMethod]]:
    """Load ``methods``: by the wheel's runtime, or by ours where operators of ours are called.

    ``data`` are the program's ``.ptd`` files. `ExportError` where it needs the command
    ``nearside``, and there is none.
    """
    if any(name.startswith("nearside::") for name in lowered.operators):
        with nearside.Program(lowered.pte, data) as program:
            yield [program.method(name) for name in methods]
    else:
        with data_files.as_one(data) as file:
            yield [wheel.LoadedMethod(lowered.pte, name, file) for name in methods]
