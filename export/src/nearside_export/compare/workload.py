"""What the subjects of one task are made to do."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

from nearside_export.runtime.nearside import Program

Figures = dict[str, float]
"""Values by name, such as ``images_per_second``; counts are whole numbers."""


class Workload(Protocol):
    """Work for programs that stand in the order of the subjects.

    ``round`` says in words what one round is.
    """

    round: str

    def quality(self, programs: Sequence[Program]) -> list[Figures]:
        """Measure how good each is by itself, and, all but the first, beside the first."""
        ...

    def prepare(self, place: int, program: Program) -> None:
        """Bring the program of subject number ``place`` to where rounds begin."""
        ...

    def speed(self, place: int, program: Program) -> Figures:
        """Do one round; the figures are of the time in the runtime alone."""
        ...
