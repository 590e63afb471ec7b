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
    from executorch.runtime import Method, Program


class _Loaded:
    """A program, and the methods that were loaded from it: they have its memory together."""

    def __init__(self, pte: bytes | Path, data: Path | None) -> None:
        self._pte = pte
        self._data = data
        # Methods read weights from the program's bytes and do not keep them alive.
        self._program: Program | None = None
        self._methods: dict[str, Method] = {}

    def method(self, name: str) -> Method:
        if name not in self._methods:
            self._methods[name] = self._load(name)
        return self._methods[name]

    def forget(self) -> None:
        self._methods.clear()
        self._program = None

    def _load(self, name: str) -> Method:
        # The kernels of quantised embedding tables are in a library of their own.
        import executorch.kernels.quantized  # noqa: F401
        from executorch.runtime import Runtime

        try:
            if self._program is None:
                self._program = Runtime.get().load_program(self._pte, data_path=self._data)
            known = sorted(self._program.method_names)
            loaded = self._program.load_method(name) if name in known else None
        except RuntimeError as error:
            raise MethodError(f"ExecuTorch cannot load method {name!r}: {error}") from error
        if loaded is None:
            raise MethodError(f"the program has no method {name!r}; it has: {', '.join(known)}")
        return loaded


def has(backend: str) -> bool:
    """Whether the wheel's runtime has the delegate ``backend`` and can use it here."""
    from executorch.runtime import Runtime

    return Runtime.get().backend_registry.is_available(backend)


class LoadedMethod:
    """One method of a program, loaded with the delegates linked into the wheel.

    ``data`` is the program's ``.ptd`` file, if it has one; the wheel's runtime takes no more.
    ``beside`` is another method of that program, which shares its state with this one.
    Raises ``MethodError`` if the program can't be loaded, such as one with operators of ours.
    """

    def __init__(
        self,
        pte: bytes | Path,
        method: str,
        data: Path | None = None,
        beside: LoadedMethod | None = None,
    ) -> None:
        self.name = method
        self.calls_ms: list[float] = []
        self._loaded = _Loaded(pte, data) if beside is None else beside._loaded
        self._loaded.method(method)

    def run(self, inputs: Sequence[Array]) -> list[Array]:
        """Execute once; see `RunnableMethod.run`."""
        import torch

        tensors = [torch.from_numpy(contiguous(i)) for i in inputs]
        method = self._loaded.method(self.name)
        start = time.perf_counter()
        try:
            outputs = method.execute(tensors)
        except RuntimeError as error:
            raise MethodError(f"ExecuTorch cannot run method {self.name!r}: {error}") from error
        self.calls_ms.append(1000 * (time.perf_counter() - start))
        return [_array(output) for output in outputs]

    def reset(self) -> None:
        """Load the program again: its methods' memory lasts as long as it does.

        Those that share the state begin afresh too.
        """
        self._loaded.forget()


def _array(output: torch.Tensor | bool | int | float) -> Array:
    import torch

    # Copied: the runtime owns the planned memory that outputs live in.
    if isinstance(output, torch.Tensor):
        return output.detach().numpy().copy()
    return np.array(output)
