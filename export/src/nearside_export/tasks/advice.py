"""What a failed quality gate adds: the schemes that would pass."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager

from nearside_export.errors import QualityError

FP32 = "--variant fp32, which is what the others are compared with"


@contextmanager
def advised(passing: Callable[[], str]) -> Iterator[None]:
    """Let a `QualityError` of the block say what ``passing`` finds, which may take a while."""
    try:
        yield
    except QualityError as error:
        raise QualityError(f"{error}. It would pass with {passing()}") from error
