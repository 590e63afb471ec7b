"""What a failed quality gate adds: the schemes that would pass."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager

from nearside_export.errors import QualityError

FP32 = "--variant fp32, which is what the others are compared with"


@contextmanager
def advised(scheme: str, passing: Callable[[], str]) -> Iterator[None]:
    """Let a `QualityError` of the block say what ``passing`` finds, which may take a while.

    Where ``scheme`` is fp32 there is nothing better: the export itself is broken.
    """
    try:
        yield
    except QualityError as error:
        if scheme == "fp32":
            raise
        raise QualityError(f"{error}. It would pass with {passing()}") from error
