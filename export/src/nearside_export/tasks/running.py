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
    lowered: LoweredProgram,
    methods: Sequence[str],
    data: Sequence[Path] = (),
    *,
    shared: bool = False,
) -> Iterator[list[RunnableMethod]]:
    """Load ``methods``: by the wheel's runtime, or by ours where operators of ours are called.

    ``data`` are the program's ``.ptd`` files; ``shared`` methods have their state together.
    `ExportError` where it needs the command ``nearside``, and there is none.
    """
    if any(name.startswith("nearside::") for name in lowered.operators):
        with nearside.Program(lowered.pte, data, share=methods if shared else ()) as program:
            yield [program.method(name) for name in methods]
    else:
        with data_files.as_one(data) as file:
            loaded: list[RunnableMethod] = []
            first = None
            for name in methods:
                method = wheel.LoadedMethod(lowered.pte, name, file, beside=first)
                first = method if shared and first is None else first
                loaded.append(method)
            yield loaded
