"""Run a ``.pte`` through the real ExecuTorch runtime that the wheel carries."""

from __future__ import annotations

import time
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from nearside_export.errors import MethodError
from nearside_export.runtime import Array, contiguous

if TYPE_CHECKING:
    import torch
    from executorch.runtime import Method


class LoadedMethod:
    """One method of a program, loaded with the delegates linked into the wheel.

    ``data`` is the program's ``.ptd`` file, if it has one; the wheel's runtime takes no more.
    Raises ``MethodError`` if the program can't be loaded, such as one with operators of ours.
    """

    def __init__(self, pte: bytes | Path, method: str, data: Path | None = None) -> None:
        self.name = method
        self.calls_ms: list[float] = []
        self._pte = pte
        self._data = data
        self._load()

    def _load(self) -> None:
        # The kernels of quantised embedding tables are in a library of their own.
        import executorch.kernels.quantized  # noqa: F401
        from executorch.runtime import Runtime

        try:
            program = Runtime.get().load_program(self._pte, data_path=self._data)
            known = sorted(program.method_names)
            loaded = program.load_method(self.name) if self.name in known else None
        except RuntimeError as error:
            raise MethodError(f"ExecuTorch cannot load method {self.name!r}: {error}") from error
        if loaded is None:
            raise MethodError(
                f"the program has no method {self.name!r}; it has: {', '.join(known)}"
            )
        # The method reads weights from the program's bytes and does not keep them alive.
        self._program = program
        self._method: Method = loaded

    def run(self, inputs: Sequence[Array]) -> list[Array]:
        """Execute once; see `RunnableMethod.run`."""
        import torch

        tensors = [torch.from_numpy(contiguous(i)) for i in inputs]
        start = time.perf_counter()
        try:
            outputs = self._method.execute(tensors)
        except RuntimeError as error:
            raise MethodError(f"ExecuTorch cannot run method {self.name!r}: {error}") from error
        self.calls_ms.append(1000 * (time.perf_counter() - start))
        return [_array(output) for output in outputs]

    def reset(self) -> None:
        """Load the program again: its methods' memory lasts as long as it does."""
        self._load()


def _array(output: torch.Tensor | bool | int | float) -> Array:
    import torch

    # Copied: the runtime owns the planned memory that outputs live in.
    if isinstance(output, torch.Tensor):
        return output.detach().numpy().copy()
    return np.array(output)
