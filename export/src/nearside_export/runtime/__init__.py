"""Running exported programs: by ExecuTorch's wheel in this process, or by Nearside's own runtime.

Both load methods that are run on arrays and keep their state from run to run:

- :mod:`.wheel` needs nothing more, but knows neither our operators nor how much memory a run takes.
- :mod:`.nearside` is what apps run, in a process of its own, through the command line.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

Array = NDArray[Any]


class RunnableMethod(Protocol):
    """A method of a program that was loaded."""

    name: str

    calls_ms: list[float]
    """How long each run took, milliseconds."""

    def run(self, inputs: Sequence[Array]) -> list[Array]:
        """Execute once.

        The inputs are those of the method that are tensors, in order, of the element types and
        shapes that it takes. What it gives is copied; numbers become arrays of no dimension. What
        the method keeps between runs, such as a KV cache, stays for the next. Raises
        ``MethodError``.
        """
        ...

    def reset(self) -> None:
        """Bring what the method keeps between runs back to what it begins with."""
        ...


def contiguous(array: Array) -> Array:
    """Return the array row by row in memory, in this machine's byte order, 0-d ones as they are."""
    return np.require(array, array.dtype.newbyteorder("="), "C")
