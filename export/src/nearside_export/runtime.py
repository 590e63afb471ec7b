"""Run a ``.pte`` through the real ExecuTorch runtime that the wheel carries."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from nearside_export.errors import ExportError

if TYPE_CHECKING:
    from executorch.runtime import Method

Array = NDArray[np.float32]


class LoadedMethod:
    """One method of a program, loaded with the delegates linked into the wheel.

    ``data`` is the program's ``.ptd`` file, if it has one; the wheel's runtime takes no more.
    """

    def __init__(self, pte: bytes, method: str, data: Path | None = None) -> None:
        from executorch.runtime import Runtime

        try:
            program = Runtime.get().load_program(pte, data_path=data)
            loaded = program.load_method(method) if method in program.method_names else None
        except RuntimeError as error:
            raise ExportError(f"ExecuTorch cannot load method {method!r}: {error}") from error
        if loaded is None:
            known = ", ".join(sorted(program.method_names))
            raise ExportError(f"the program has no method {method!r}; it has: {known}")
        # The method reads weights from the program's bytes and does not keep them alive.
        self._program = program
        self._method: Method = loaded

    def run(self, inputs: Sequence[Array]) -> list[Array]:
        """Execute once; inputs and outputs are f32 arrays of the method's shapes."""
        import torch

        outputs = self._method.execute([torch.from_numpy(i) for i in inputs])
        # Copied: the runtime owns the planned memory that outputs live in.
        return [o.detach().numpy().copy() for o in outputs]
